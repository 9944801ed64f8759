// Bad scenes: each must fail with the line, the path and a message that helps.
#include "scene_support.h"

typedef struct BadScene {
  int line; // 0: the message has no path
  const char* path;
  const char* message;
  const char* text;
} BadScene;

#define TIME "'time': {'steps': 1}"
#define CUBE "{'name': 'cube', 'mesh': {'box': {'cells': [1, 1, 1]}}}"
// A scene with one good body, and a further member on line 3.
#define WITH(member) "{" TIME ",\n 'bodies': [" CUBE "],\n " member "}"
// A scene whose only body has a further member on line 3.
#define BODY(member)                                                                               \
  "{" TIME ",\n 'bodies': [{'name': 'cube', 'mesh': {'box': {'cells': [1, 1, 1]}},\n  " member "}" \
  "]"                                                                                              \
  "}"
#define OBSTACLE(member)                                                                           \
  WITH("'obstacles': [{'name': 'wall', 'mesh': {'plane': {}},\n  " member "}]")
#define PRESCRIBED(member) WITH("'prescribed': [{'body': 'cube',\n " member "}]")
#define MOVED(member) WITH("'prescribed': [{'body': 'cube', 'motion': {\n " member "}}]")
#define SPRING(member) WITH("'springs': [{'body': 'cube',\n " member "}]")
#define HINGE(member) WITH("'joints': [{'type': 'hinge', 'a': 'cube',\n " member "}]")
#define FORCE(member) WITH("'forces': [{'body': 'cube',\n " member "}]")

static const BadScene bad_scenes[] = {
    // JSON
    {0, "scene.json:1:", "the scene is empty", ""},
    {0, "scene.json:2:", "expected", "{'time':\n}"},
    {0, "scene.json:3:", "expected", "{'time': 1,\n 'a': 2\n 'b': 3}"},
    {0, "scene.json:1:", "duplicate object key", "{'time': 1, 'time': 2}"},
    {0, "scene.json:2:", "duplicate object key",
     "{" TIME ", 'bodies': [\n{'mesh': 'a', 'mesh': 'b'}]}"},
    {0, "scene.json:1:", "end of file expected", "{} {}"},
    {0, "scene.json:1:", "too big integer", "{'time': {'steps': 123456789012345678901234567890}}"},
    {0, "scene.json:1:", "real number overflow", "{'time': {'step': 1e999}}"},
    {0, "scene.json:1:", "invalid token", "{'time': {'step': NaN}}"},
    {1, "scene", "must be an object, got a list", "[]"},
    {1, "scene", "must be an object, got a number", "3"},
    // missing and unknown keys
    {1, "scene", "\"time\" is missing", "{'bodies': [" CUBE "]}"},
    {2, "scene", "\"bodies\" is missing", "\n{" TIME "}"},
    {1, "bodies", "must have at least 1 item, got 0", "{" TIME ", 'bodies': []}"},
    {2, "bodies[0]", "\"mesh\" is missing", "{" TIME ", 'bodies': [\n{'name': 'a'}]}"},
    {3, "bodies[0].matrial", "unknown key; did you mean \"material\"?", BODY("'matrial': {}")},
    {3, "bodies[0].material.yuong", "did you mean \"young\"?", BODY("'material': {'yuong': 1}")},
    {3, "grafity", "did you mean \"gravity\"?", WITH("'grafity': [0, 0, 0]")},
    {3, "Gravity", "did you mean \"gravity\"?", WITH("'Gravity': [0, 0, 0]")},
    {3, "bodies[0].zzzzzz", "unknown key; known: \"name\", \"mesh\"", BODY("'zzzzzz': 0")},
    {3, "bodies[0][\"a.b\"]", "unknown key", BODY("'a.b': 0")},
    // convergent contact is a potential, and a form of the barrier
    {3, "contact.convergent", "is a potential, and solver.method \"augmented_lagrangian\" has none",
     WITH("'contact': {'convergent': true}, 'solver': {'method': 'augmented_lagrangian'}")},
    {3, "contact.convergent", "is a form of the contact model \"ipc\"; contact.model is \"gcp\"",
     WITH("'contact': {'convergent': true, 'model': 'gcp'}")},
    {3, "contact.convergant", "did you mean \"convergent\"?",
     WITH("'contact': {'convergant': true}")},
    {3, "contact.convergent", "must be true or false", WITH("'contact': {'convergent': 1}")},
    // keys that are known elsewhere: below, around, and in other objects; also misspelt
    {3, "bodies[0].thickness", "unknown key; did you mean \"shell.thickness\"?",
     BODY("'thickness': 1e-3")},
    {3, "bodies[0].thicknes", "did you mean \"shell.thickness\"?", BODY("'thicknes': 1e-3")},
    {3, "bodies[0].radius", "did you mean \"rod.radius\" or \"point.radius\"?",
     BODY("'radius': 1")},
    {3, "bodies[0].cells", "did you mean \"mesh.box.cells\"?", BODY("'cells': [2, 2, 2]")},
    {3, "bodies[0].material.velocity", "did you mean \"bodies[0].velocity\"?",
     BODY("'material': {'velocity': [0, 0, 1]}")},
    {3, "bodies[0].friction", "did you mean \"friction\"?", BODY("'friction': 0.5")},
    {3, "contact.gravity", "did you mean \"gravity\"?", WITH("'contact': {'gravity': [0, 0, 0]}")},
    {3, "young", "did you mean \"bodies[].material.young\"?", WITH("'young': 1e6")},
    {4, "prescribed[0].displacement", "did you mean \"motion.displacement\"?",
     PRESCRIBED("'displacement': [0, 0, 1]")},
    {4, "prescribed[0].motion.side", "did you mean \"prescribed[0].select.side\"?",
     MOVED("'side': '-x'")},
    {3, "solver.distance", "\"contact.distance\", \"pairs[].distance\" or \"ties[].distance\"?",
     WITH("'solver': {'distance': 1e-3}")},
    {3, "dt", "unknown key; known: ", WITH("'dt': 0.01")},
    {1, "bodies[0].mesh.box.sise", "did you mean \"size\"?",
     "{" TIME ", 'bodies': [{'mesh': {'box': {'sise': [1, 1, 1]}}}]}"},
    {3, "bodies[0].rod", "a body is of one kind; this one has \"shell\", too",
     "{" TIME ",\n 'bodies': [{'mesh': {'plane': {}}, 'shell': {'thickness': 1e-3},\n'rod': "
     "{'radius': 0.01}}]}"},
    {3, "solver.tolerence", "did you mean \"tolerance\"?", WITH("'solver': {'tolerence': 1}")},
    // types
    {3, "gravity", "must be a list of 3 numbers, got a number", WITH("'gravity': 9.81")},
    {3, "gravity", "must be a list of 3 numbers, got 2 items", WITH("'gravity': [0, 1]")},
    {4, "gravity[1]", "must be a number, got a string", WITH("'gravity': [0,\n'g', 0]")},
    {3, "contact.enabled", "must be true or false, got a number",
     WITH("'contact': {'enabled': 1}")},
    {3, "contact", "must be an object, got null", WITH("'contact': null")},
    {3, "bodies[0].contact_offset", "must be", BODY("'contact_offset': -1")},
    {3, "bodies[0].contact_offset", "thickness", BODY("'contact_offset': 'thick'")},
    {4, "obstacles[0].contact_offset", "must be a number",
     OBSTACLE("'contact_offset': 'thickness'")},
    {3, "name", "must be a string, got true", WITH("'name': true")},
    {3, "name", "must not be empty", WITH("'name': ''")},
    {3, "solver.max_iterations", "must be an integer, got 1.5",
     WITH("'solver': {'max_iterations': 1.5}")},
    {3, "contact.stiffness", "must be a number or \"adaptive\", got a list",
     WITH("'contact': {'stiffness': []}")},
    {3, "contact.stiffness", "did you mean \"adaptive\"?",
     WITH("'contact': {'stiffness': 'adaptiv'}")},
    {3, "debug.audit", "must be true or false or a string, got a number",
     WITH("'debug': {'audit': 1}")},
    {3, "debug.audit", "did you mean \"every_step\"?", WITH("'debug': {'audit': 'every step'}")},
    {3, "friction.iterations",
     "must be an integer or \"automatic\" or \"until_convergence\", got false",
     WITH("'friction': {'iterations': false}")},
    {3, "contact.distance", "must be a number or text like \"1e-3 d\", got \"1 mm\"",
     WITH("'contact': {'distance': '1 mm'}")},
    {3, "contact.distance", "got \"l\"", WITH("'contact': {'distance': 'l'}")},
    {3, "contact.distance", "got \"d\"", WITH("'contact': {'distance': 'd'}")},
    {3, "contact.distance", "got \"1e-3 ld\"", WITH("'contact': {'distance': '1e-3 ld'}")},
    {3, "bodies[0].scale", "must be a number or a list of 3 numbers, got a string",
     BODY("'scale': 'big'")},
    {3, "bodies[0].material", "must be an object, got a string", BODY("'material': 'rubber'")},
    // ranges
    {3, "bodies[0].material.poisson", "must be in (-1, 0.5), got 0.7",
     BODY("'material': {'poisson': 0.7}")},
    {3, "bodies[0].material.poisson", "must be in (-1, 0.5), got 0.5",
     BODY("'material': {'poisson': 0.5}")},
    {3, "bodies[0].plane_strain", "must be > 0, got 0", BODY("'plane_strain': 0")},
    {2, "bodies[0].mesh", "has no triangles, which \"plane_strain\" needs",
     BODY("'plane_strain': 1")},
    {2, "bodies[0].mesh", "or give it \"plane_strain\" if it lies in a plane",
     "{" TIME ", 'bodies': [\n{'mesh': {'disk': {}}}]}"},
    {2, "bodies[0].mesh.polygon.corners", "does not run counterclockwise",
     "{" TIME ", 'bodies': [\n{'plane_strain': 1, 'mesh': {'polygon': {'corners': [[0, 0], [0, 1], "
     "[1, 0]]}}}]}"},
    {3, "bodies[0].material.young", "must be in (0, 1e+40], got 0",
     BODY("'material': {'young': 0}")},
    {3, "bodies[0].material.density", "must be in (0, 1e+40], got -1",
     BODY("'material': {'density': -1}")},
    {3, "bodies[0].material.law", "did you mean \"neo_hookean\"?",
     BODY("'material': {'law': 'neo-hookean'}")},
    {1, "time.step", "must be > 0, got 0",
     "{'time': {'step': 0, 'steps': 1}, 'bodies': [" CUBE "]}"},
    {1, "time.steps", "got 0", "{'time': {'steps': 0}, 'bodies': [" CUBE "]}"},
    {1, "time.duration", "must be > 0, got -1", "{'time': {'duration': -1}, 'bodies': [" CUBE "]}"},
    {1, "time.duration", "more than 1e9",
     "{'time': {'duration': 1, 'step': 1e-12}, 'bodies': [" CUBE "]}"},
    {1, "time", "needs exactly one of \"duration\", \"steps\", got none",
     "{'time': {}, 'bodies': [" CUBE "]}"},
    {1, "time", "got several", "{'time': {'duration': 1, 'steps': 1}, 'bodies': [" CUBE "]}"},
    {1, "time.integrator", "did you mean \"backward_euler\"?",
     "{'time': {'steps': 1, 'integrator': 'BackwardEuler'}, 'bodies': [" CUBE "]}"},
    {3, "friction.coefficient", "must be >= 0, got -0.1",
     WITH("'friction': {'coefficient': -0.1}")},
    {3, "contact.distance", "must be > 0, got 0", WITH("'contact': {'distance': '0 l'}")},
    {3, "solver.linear", "known: \"cholmod\", \"cholmod_single\", \"dense\", \"pcg\"",
     WITH("'solver': {'linear': 'x'}")},
    {3, "output", "takes only one of \"every\", \"interval\"",
     WITH("'output': {'every': 1, 'interval': 1}")},
    // shapes and meshes
    {3, "bodies[0].shell.limit", "must be > 1, got 0.9",
     "{" TIME
     ", 'bodies': [{'mesh': {'plane': {}},\n 'shell': {'thickness': 0.001,\n 'limit': 0.9}}]}"},
    {2, "bodies[0].shell.bending_law", "is not known; known: \"plate\", \"hinges\"",
     "{" TIME
     ", 'bodies': [{'mesh': {'plane': {}},\n 'shell': {'thickness': 1, 'bending_law': 'stiff'}}]}"},
    {1, "bodies[0].mesh", "needs exactly one of \"box\"", "{" TIME ", 'bodies': [{'mesh': {}}]}"},
    {1, "bodies[0].mesh", "has no tetrahedra: list it under",
     "{" TIME ", 'bodies': [{'mesh': {'plane': {}}}]}"},
    {1, "bodies[0].mesh.box.size[1]", "must be > 0, got 0",
     "{" TIME ", 'bodies': [{'mesh': {'box': {'size': [1, 0, 1]}}}]}"},
    {1, "bodies[0].mesh.box.cells[0]", "got 0",
     "{" TIME ", 'bodies': [{'mesh': {'box': {'cells': [0, 1, 1]}}}]}"},
    {1, "bodies[0].mesh.sphere", "cells are more than",
     "{" TIME ", 'bodies': [{'mesh': {'sphere': {'cells': 1000000}}}]}"},
    {1, "bodies[0].mesh.voxels.inside", "is 0 at the centres of all cells",
     "{" TIME ", 'bodies': [{'mesh': {'voxels': {'inside': 'X > 1'}}}]}"},
    {1, "bodies[0].mesh.voxels.inside", "has no finite value at (-0.4375, -0.4375, -0.4375)",
     "{" TIME ", 'bodies': [{'mesh': {'voxels': {'inside': 'sqrt(X)'}}}]}"},
    {1, "obstacles[0].mesh.revolution.profile",
     "revolution: point 1 of the profile must be finite and right of the axis, got (-1, 0)",
     "{" TIME ", 'bodies': [{'mesh': {'box': {}}}], 'obstacles': [{'mesh': {'revolution': "
     "{'profile': [[1, 0], [-1, 0], [1, 1]]}}}]}"},
    {1, "bodies[0].mesh.torus", "tube_radius must be smaller than ring_radius",
     "{" TIME ", 'bodies': [{'mesh': {'torus': {'tube_radius': 2}}}]}"},
    {2, "bodies[0].mesh", "missing.msh", "{" TIME ", 'bodies': [\n{'mesh': 'missing.msh'}]}"},
    {1, "bodies[0].mesh", "cube.xyz", "{" TIME ", 'bodies': [{'mesh': 'cube.xyz'}]}"},
    {3, "bodies[0].scale", "must not be 0", BODY("'scale': 0")},
    {3, "bodies[0].scale", "must not be 0", BODY("'scale': [1, 0, 1]")},
    {3, "bodies[0].fit", "must be > 0, got 0", BODY("'fit': 0")},
    {2, "bodies[0]", "beyond the range of numbers",
     BODY("'scale': 1e308, 'rotate': [45, 45, 45], 'translate': [1e308, 0, 0]")},
    {1, "bodies[0].mesh.sphere.geometry_order", "must be in [1, 4], got 5",
     "{" TIME ", 'bodies': [{'mesh': {'sphere': {'geometry_order': 5}}}]}"},
    {3, "bodies[0].copies.count", "must be in [1, 100000], got 0", BODY("'copies': {'count': 0}")},
    {3, "bodies[0].copies", "\"count\" is missing", BODY("'copies': {}")},
    // names
    {3, "bodies[1].name", "the name \"cube\" is taken",
     "{" TIME ",\n 'bodies': [" CUBE ",\n" CUBE "]}"},
    {3, "half_spaces[0].name", "the name \"cube\" is taken",
     WITH("'half_spaces': [{'name': 'cube'}]")},
    {4, "obstacles[0].name", "contains one of * [ ]",
     WITH("'obstacles': [{'mesh': {'plane': {}},\n'name': 'a[0]'}]")},
    {4, "prescribed[0].body", "there is no \"cub\"; did you mean \"cube\"?",
     WITH("'prescribed': [{'motion': {'hold': true},\n 'body': 'cub'}]")},
    {3, "forces[0].body", "there is no \"nothing_like_it\"; known: \"cube\"",
     WITH("'forces': [{'body': 'nothing_like_it', 'total': [0, 0, 0]}]")},
    {3, "pairs[0].b", "did you mean \"cube\"?", WITH("'pairs': [{'a': '*', 'b': 'Cube'}]")},
    {3, "pairs[0].static_friction", "must be at least the coefficient of sliding, 0.3, got 0.2",
     WITH("'pairs': [{'a': '*', 'b': '*', 'friction': 0.3, 'static_friction': 0.2}]")},
    {3, "friction.static_coefficient", "must be at least the coefficient of sliding, 0.5, got 0.2",
     WITH("'friction': {'coefficient': 0.5, 'static_coefficient': 0.2}")},
    {3, "friction.stribeck_speed", "must be above the speed that counts as sticking",
     WITH("'friction': {'speed': 1e-3, 'stribeck_speed': 1e-3}")},
    {3, "bodies[0].volume", "needs exactly one of \"region\", \"component\", \"tag\", got none",
     BODY("'volume': {'model': 'quadratic'}")},
    {3, "bodies[0].volume[0]", "\"compression\" is missing",
     BODY("'volume': [{'region': 'body', 'model': 'quadratic'}]")},
    {3, "bodies[0].volume.model", "did you mean \"ideal_gas\"?",
     BODY("'volume': {'region': 'body', 'model': 'ideal_gaz'}")},
    {3, "bodies[0].volume.pressure", "there is no gas at -200000 Pa above the atmosphere",
     BODY("'volume': {'region': 'body', 'pressure': -2e5}")},
    {3, "pairs[0]", "\"b\" is missing", WITH("'pairs': [{'a': '*'}]")},
    {3, "half_spaces[0].normal", "must not be 0", WITH("'half_spaces': [{'normal': [0, 0, 0]}]")},
    {4, "forces[0].body", "\"wall\" is an obstacle; forces act on bodies only",
     WITH("'obstacles': [{'name': 'wall', 'mesh': {'plane': {}}}],\n"
          "'forces': [{'body': 'wall', 'total': [0, 0, 0]}]")},
    // selections
    {4, "prescribed[0].select.box", "min must not exceed max",
     PRESCRIBED(
         "'select': {'box': {'min': [1, 0, 0], 'max': [0, 1, 1]}}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select",
     "selects no vertex of \"cube\", whose bounding box is [-0.5, -0.5, -0.5] to [0.5, 0.5, 0.5]",
     PRESCRIBED(
         "'select': {'box': {'min': [1, 1, 1], 'max': [2, 2, 2]}}, 'motion': {'hold': true}")},
    {5, "prescribed[0].select[1]", "selects no vertex of \"cube\"",
     PRESCRIBED("'select': ['all',\n {'sphere': {'center': [0, 0, 0], 'radius': 0.1}}], 'motion': "
                "{'hold': true}")},
    {4, "prescribed[0].select", "selects no vertex",
     PRESCRIBED("'select': {'tag': 7}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select.side", "\"x\" is not known",
     PRESCRIBED("'select': {'side': 'x'}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select", "needs exactly one of \"box\"",
     PRESCRIBED("'select': {'depth': 0.5}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select.depth", "must be in [0, 1], got 2",
     PRESCRIBED("'select': {'side': '-x', 'depth': 2}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select.half_space.normal", "must not be 0",
     PRESCRIBED("'select': {'half_space': {'origin': [0, 0, 0], 'normal': [0, 0, 0]}}, 'motion': "
                "{'hold': true}")},
    {4, "prescribed[0].select.vertices[1]", "there is no vertex 8; the mesh has 8",
     PRESCRIBED("'select': {'vertices': [7, 8]}, 'motion': {'hold': true}")},
    {4, "prescribed[0].select", "did you mean \"all\"?",
     PRESCRIBED("'select': 'al', 'motion': {'hold': true}")},
    // motions and expressions
    {3, "prescribed[0]", "\"motion\" is missing", PRESCRIBED("'select': 'all'")},
    {3, "prescribed[0].motion", "needs one of \"displacement\"", MOVED("'from': 1")},
    {3, "prescribed[0].motion", "takes only one of \"displacement\" and \"velocity\"",
     MOVED("'displacement': [0, 0, 0], 'velocity': [0, 0, 0]")},
    {4, "prescribed[0].motion.factor", "\"hold\" does not move; \"drift\" adds a velocity",
     MOVED("'hold': true, 'factor': 2")},
    {4, "prescribed[0].motion.drift", "cannot be combined with \"controlled\"",
     MOVED("'controlled': true, 'drift': [1, 0, 0]")},
    {4, "prescribed[0].motion.factor", "must be > 0, got 0",
     MOVED("'velocity': [0, 0, 1], 'factor': 0")},
    {3, "prescribed[0].motion", "\"hold\" cannot be combined",
     MOVED("'hold': true, 'velocity': [0, 0, 0]")},
    {4, "prescribed[0].motion.to", "must be later than \"from\", got 1 and 2",
     MOVED("'hold': true, 'from': 2, 'to': 1")},
    {4, "prescribed[0].motion.velocity", "at least one component must not be \"free\"",
     MOVED("'velocity': ['free', 'free', 'free']")},
    {4, "prescribed[0].motion.velocity[1]", "\"free\" cannot be combined with \"rotation\"",
     MOVED("'velocity': [0, 'free', 0], 'rotation': {'axis': [0, 0, 1], 'speed': 1}")},
    {4, "prescribed[0].motion.displacement[2]", "unknown name or symbol",
     MOVED("'displacement': [0, 'free', 'Free']")},
    {4, "obstacles[0].motion", "\"wall\" is an obstacle; components of its motion cannot be",
     OBSTACLE("'motion': {'velocity': [0, 'free', 0]}")},
    {4, "prescribed[0].motion.until", "\"beyond\" is missing", MOVED("'hold': true, 'until': {}")},
    {4, "prescribed[0].motion.until.beyond.normal", "must not be 0",
     MOVED("'hold': true, 'until': {'beyond': {'origin': [0, 0, 0], 'normal': [0, 0, 0]}}")},
    {4, "prescribed[0].motion.velocity[1]", "unexpected end of the expression",
     MOVED("'velocity': [0, 't+', 0]")},
    {4, "prescribed[0].motion.velocity[0]", "unknown name or symbol at character 1 (\"foo(t)\")",
     MOVED("'velocity': ['foo(t)', 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]", "has 2 values instead of one",
     MOVED("'velocity': ['t, 1', 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]", "assignment at character 2",
     MOVED("'velocity': ['t=1', 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]",
     "must be a number or an expression or \"free\", got a list", MOVED("'velocity': [[], 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]", "the expression is empty",
     MOVED("'velocity': [' ', 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]", "too few arguments",
     MOVED("'velocity': ['clamp(t, 1)', 0, 0]")},
    {4, "prescribed[0].motion.velocity[0]", "may depend on t only",
     MOVED("'velocity': ['X', 0, 0], 'rotation': {'axis': [0, 0, 1], 'speed': 1}")},
    {4, "prescribed[0].motion.rotation.speed", "may depend on t only",
     MOVED("'rotation': {'axis': [0, 0, 1], 'speed': 'Y'}")},
    {3, "prescribed[0].motion", "do not say how its sections turn",
     "{" TIME ",\n 'bodies': [{'name': 'rod', 'mesh': {'line': {}}, "
     "'rod': {'radius': 0.01, 'twist': 1}}],\n 'prescribed': [{'body': 'rod', 'motion': "
     "{'sequence': {'files': 'a_%d.obj', 'fps': 1}}}]}"},
    {4, "prescribed[0].motion.rotation.axis", "must not be 0",
     MOVED("'rotation': {'axis': [0, 0, 0], 'speed': 1}")},
    {4, "prescribed[0].motion.rotation.origin", "\"box\" cannot be combined with \"angle\"",
     MOVED("'rotation': {'axis': [0, 0, 1], 'origin': 'box', 'angle': 1}")},
    {4, "prescribed[0].motion.rotation.origin", "cannot be combined with \"displacement\"",
     MOVED("'displacement': [0, 0, 0], 'rotation': {'axis': [0, 0, 1], 'origin': 'box', 'speed': "
           "1}")},
    {4, "prescribed[0].motion.rotation.origin", "\"boxes\" is not known; known: \"box\"",
     MOVED("'rotation': {'axis': [0, 0, 1], 'origin': 'boxes', 'speed': 1}")},
    {4, "prescribed[0].motion.rotation", "needs exactly one of \"speed\", \"angle\"",
     MOVED("'rotation': {'axis': [0, 0, 1]}")},
    {4, "obstacles[0].motion.sequence.files", "needs one %d",
     OBSTACLE("'motion': {'sequence': {'files': 'a.obj', 'fps': 1}}")},
    {4, "obstacles[0].motion.sequence.files", "there is no file \"missing_0.obj\"",
     OBSTACLE("'motion': {'sequence': {'files': 'missing_%d.obj', 'fps': 1}}")},
    {4, "obstacles[0].motion.sequence.files[0]", "missing.obj",
     OBSTACLE("'motion': {'sequence': {'files': ['missing.obj'], 'fps': 1}}")},
    {4, "obstacles[0].motion[1]", "needs one of", OBSTACLE("'motion': [{'hold': true}, {}]")},
    {4, "obstacles[0].as", "did you mean \"edges\"?", OBSTACLE("'as': 'edge'")},
    // forces
    {3, "forces[0]",
     "needs exactly one of \"acceleration\", \"nodal\", \"total\", \"traction\", \"pressure\", got "
     "none",
     FORCE("'from': 1")},
    // increments
    {1, "time.increments", "needs the integrator \"quasi_static\"",
     "{'time': {'steps': 1, 'increments': {'initial': 1e-3}},\n 'bodies': [" CUBE "]}"},
    {2, "time.increments", "is longer than \"step\"",
     "{'time': {'steps': 1, 'integrator': 'quasi_static',\n 'increments': {'initial': 2}},"
     " 'bodies': [" CUBE "]}"},
    {2, "time.increments.intial", "did you mean \"initial\"?",
     "{'time': {'steps': 1, 'integrator': 'quasi_static',\n 'increments': {'intial': 2}},"
     " 'bodies': [" CUBE "]}"},
    // springs
    {4, "joints[0].limits", "0 at the start, which is not inside [0.1, 2]",
     HINGE("'limits': [0.1, 2]")},
    {4, "joints[0].limits", "must be a list of 2 numbers, got 1 items", HINGE("'limits': [1]")},
    {4, "joints[0].motor", "effort", HINGE("'motor': {'speed': 1, 'position': 2}")},
    {4, "joints[0].motor.position", "X", HINGE("'motor': {'position': 'X'}")},
    {4, "joints[0].motor.stifness", "did you mean", HINGE("'motor': {'speed': 1, 'stifness': 2}")},
    {4, "joints[0].limit", "did you mean \"limits\"", HINGE("'limit': [-1, 1]")},
    {3, "springs[0]", "neither stiffness nor damping", SPRING("'length': 1")},
    {4, "springs[0].stifness", "did you mean \"stiffness\"?", SPRING("'stifness': 1")},
    {4, "springs[0].stiffness", "must be", SPRING("'stiffness': -1")},
    {4, "springs[0].to", "did you mean \"cube\"?", SPRING("'stiffness': 1, 'to': 'cbue'")},
    {4, "springs[0].to_select", "\"to\" names it",
     SPRING("'stiffness': 1, 'to_select': {'side': '+x'}")},
    {4, "springs[0].to_select.side", "is not known",
     SPRING("'stiffness': 1, 'to_select': {'side': 'top'}")},
    {4, "forces[0].nodal[2]", "misplaced colon", FORCE("'nodal': [0, 0, 't : 1']")},
    {4, "forces[0].to", "must be later than \"from\"",
     FORCE("'nodal': [0, 0, 0], 'from': 1, 'to': 1")},
    {4, "forces[0].to", "did you mean \"end\"?", FORCE("'nodal': [0, 0, 0], 'to': 'ende'")},
};

static void check_bad(NoliContext* context, const BadScene* bad) {
  NoliScene* scene = NULL;
  char prefix[200];
  snprintf(prefix, sizeof prefix, "scene.json:%d: %s: ", bad->line, bad->path);
  NoliStatus status = parse_quoted(context, bad->text, &scene);
  const char* message = noli_context_message(context);
  const char* start = bad->line == 0 ? bad->path : prefix;
  if (status >= 0 || scene != NULL || strncmp(message, start, strlen(start)) != 0 ||
      strstr(message, bad->message) == NULL) {
    print_error("scene  %s\nstatus %d\ngot    %s\nwant   %s ... %s\n", bad->text, (int)status,
                message, start, bad->message);
    fail();
  }
  noli_scene_destroy(&scene);
}

static void bad_scenes_are_located(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof bad_scenes / sizeof *bad_scenes; i++) {
    check_bad(context, &bad_scenes[i]);
    // nothing may stay behind
    assert_int_equal(noli_context_bytes(context), 0);
  }
  print_message("%zu bad scenes\n", sizeof bad_scenes / sizeof *bad_scenes);
  test_context_done(&context);
}

static void missing_scene_file_is_named(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_STATUS(noli_scene_load(context, "no/such/scene.json", NULL, 0, &scene), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), "no/such/scene.json"));
  ASSERT_STATUS(noli_scene_load(context, NULL, NULL, 0, &scene), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_scene_load(context, ".", NULL, 0, &scene), NOLI_ERROR_IO);
  test_context_done(&context);
}

typedef struct BadMesh {
  const char* message;
  const char* vtk;
} BadMesh;

#define VTK(points, cells)                                                                         \
  "# vtk DataFile Version 2.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n" points "\n" cells "\n"
#define FIVE "POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1"

static const BadMesh bad_meshes[] = {
    {"vertex 4 is not finite", VTK("POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 nan 1",
                                   "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10")},
    {"has no volume", VTK("POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n1 1 1",
                          "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10")},
    {"tetrahedron 1 at (0.5, 0.5, 0.5) is inverted (1 of 2 tetrahedra)",
     VTK(FIVE, "CELLS 2 10\n4 0 1 2 3\n4 1 3 2 4\nCELL_TYPES 2\n10\n10")},
    {"has no tetrahedra: list it under \"obstacles\"",
     VTK(FIVE, "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5")},
    {"occurs twice", VTK(FIVE, "CELLS 2 10\n4 0 1 2 3\n4 0 1 2 3\nCELL_TYPES 2\n10\n10")},
};

static void bad_meshes_are_located(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof bad_meshes / sizeof *bad_meshes; i++) {
    write_file("bad_mesh.vtk", bad_meshes[i].vtk);
    NoliScene* scene = NULL;
    NoliStatus status =
        parse_quoted(context, "{" TIME ",\n 'bodies': [{'mesh': 'bad_mesh.vtk'}]}", &scene);
    const char* message = noli_context_message(context);
    if (status >= 0 || strstr(message, bad_meshes[i].message) == NULL ||
        strncmp(message, "scene.json:2: bodies[0].mesh: ", 30) != 0) {
      print_error("got %d %s, want %s\n", (int)status, message, bad_meshes[i].message);
      fail();
    }
  }
  remove("bad_mesh.vtk");
  test_context_done(&context);
}

static void mendable_meshes_are_mended_and_logged(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  // all inverted, vertex 4 unused
  write_file("mendable.vtk", VTK(FIVE, "CELLS 1 5\n4 0 2 1 3\nCELL_TYPES 1\n10"));
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, "{" TIME ",\n 'bodies': [{'mesh': 'mendable.vtk'}]}", &scene));
  assert_non_null(strstr(log.text, "scene.json:2: bodies[0].mesh: "));
  assert_non_null(strstr(log.text, "all tetrahedra are inverted"));
  assert_non_null(strstr(log.text, "1 vertices belong to no tetrahedron"));
  const NoliMesh* mesh = noli_scene_sim_def(scene)->bodies[0].mesh;
  assert_int_equal(mesh->n_vert, 4);
  NoliMeshCheck found;
  ASSERT_OK(noli_mesh_check(context, mesh, &found));
  assert_int_equal(found.n_inverted, 0);
  assert_int_equal(found.n_unused_vertices, 0);
  noli_scene_destroy(&scene);
  remove("mendable.vtk");
  // lengths that are not metres
  ASSERT_OK(parse_quoted(
      context, "{" TIME ", 'bodies': [{'mesh': {'box': {'size': [5000, 1, 1]}}}]}", &scene));
  assert_non_null(strstr(log.text, "in metres?"));
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_scenes_are_located),
      cmocka_unit_test(missing_scene_file_is_named),
      cmocka_unit_test(bad_meshes_are_located),
      cmocka_unit_test(mendable_meshes_are_mended_and_logged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
