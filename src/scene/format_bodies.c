// Bodies with their materials, and obstacles: build_bodies.c.
#include "scene/format_fields.h"

// ---- plain values -------------------------------------------------------------------------------

static const NoliSceneType above_one = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(1.0, true, HUGE_VAL, true)};
static const NoliSceneType material_number = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, NOLI_MATERIAL_MAX, false)};
static const NoliSceneType refinements = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(0.0, false, 10.0, false)};
#define BODY_LIMIT 100000
static const NoliSceneType copy_count = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, BODY_LIMIT, false)};
static const NoliSceneType material_value = {.kind = NOLI_SCENE_EXPRESSION,
                                             .what = "a number or an expression",
                                             RANGE(0.0, true, NOLI_MATERIAL_MAX, false)};
static const NoliSceneType poisson_value = {.kind = NOLI_SCENE_EXPRESSION,
                                            .what = "a number or an expression",
                                            RANGE(-1.0, true, 0.5, true)};
static const NoliSceneType poisson_number = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(-1.0, true, 0.5, true)};
LIST(material_list, material_number, 1, "a list of numbers");
LIST(poisson_list, poisson_number, 1, "a list of numbers");
static const NoliSceneType ogden_terms = {.kind = NOLI_SCENE_LIST,
                                          .what = "a list of pairs of numbers",
                                          .item = &pair_of_numbers,
                                          .min_items = 1,
                                          .max_items = NOLI_LAW_PARAMETERS / 2};
static const NoliSceneType prony_terms = {.kind = NOLI_SCENE_LIST,
                                          .what = "a list of pairs of numbers",
                                          .item = &positive_pair,
                                          .max_items = NOLI_PRONY_TERMS};
// One for all elements, of their place, or one for each.
static const NoliSceneType material_field = EITHER(&material_value, &material_list);
static const NoliSceneType poisson_field = EITHER(&poisson_value, &poisson_list);
// in the order of 0 and NOLI_OFFSET_THICKNESS
static const NoliSceneType offset_rule = {.kind = NOLI_SCENE_CHOICE,
                                          .what = "\"none\" or \"thickness\"",
                                          .choices = CHOICES("none", "thickness")};
static const NoliSceneType shell_offset = EITHER(&not_negative, &offset_rule);
static const NoliSceneType bending_law = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choices = CHOICES("plate", "hinges")};
FROM_TABLE(obstacle_kind, NOLI_CHOICE_MESH_PART);
FROM_TABLE(volume_model, NOLI_CHOICE_VOLUME_MODEL);
FROM_TABLE(law, NOLI_CHOICE_MATERIAL);
// The others have a number, which is their own key.
static const char* region_name_name(int32_t index) {
  return index < NOLI_REGION_COMPONENT ? noli_choice_name(NOLI_CHOICE_VOLUME_REGION, index) : NULL;
}
static const NoliSceneType region_name = {
    .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = region_name_name};

// ---- bodies -------------------------------------------------------------------------------------

static const NoliSceneType start_positions = EITHER(&mesh_file, &places);
static const NoliSceneType body_mesh = EITHER(&mesh_file, &noli_scene_shape_format);
static const NoliSceneType obstacle_mesh = EITHER(&mesh_file, &noli_scene_shape_format);

OBJECT(copies, "copies", NOLI_SCENE_ANY,
       REQUIRED("count", copy_count, NULL, "Number of copies, including the first."),
       FIELD("translate", vector, "[0, 0, 0]", "m", "Translation from each copy to the next."),
       FIELD("rotate", vector, "[0, 0, 0]", "deg",
             "Rotation of each copy relative to the previous one, about the local origin."));

#define MERGE                                                                                      \
  FIELD("merge", not_negative, NULL, NULL,                                                         \
        "If given, vertices of `mesh` within this distance, before `scale`, become one, 0: equal " \
        "ones; cells without size and those that occur twice are dropped. See "                    \
        "docs/reference/import.md.")
#define PLACEMENT                                                                                  \
  MERGE,                                                                                           \
      FIELD("scale", scale, "1", NULL,                                                             \
            "Scale factor, or one for each axis; negative factors mirror."),                       \
      FIELD("fit", positive, NULL, "m",                                                            \
            "If given, the scaled mesh is scaled again to make this its largest extent."),         \
      FIELD("rotate", vector, "[0, 0, 0]", "deg",                                                  \
            "Rotation Rx Ry Rz about the origin (z first)."),                                      \
      FIELD("translate", vector, "[0, 0, 0]", "m", "Translation, applied last."),                  \
      FIELD("copies", copies, NULL, NULL,                                                          \
            "A row of copies, named `NAME[0]`, `NAME[1]`, ...; `NAME` means all of them.")

#define PLANE_STRAIN                                                                               \
  FIELD("plane_strain", positive, NULL, "m",                                                       \
        "If given, the body is in plane strain: the mesh is the cross section of a body of this "  \
        "thickness, triangles in a plane z = const. See docs/howto/plane_strain.md.",              \
        INTO(NoliBodyDef, plane_strain))

OBJECT(fibre, "fibre", NOLI_SCENE_ANY,
       REQUIRED("direction", expressions, NULL,
                "At rest, in the axes of the scene, of any length; expressions in X, Y, Z are "
                "evaluated at the centre of each element."),
       REQUIRED("k1", expression, "Pa",
                "A quarter of the modulus of the fibres at small tension; 0: none."),
       FIELD("k2", expression, "0", NULL,
             "Growth of their stiffness with the stretch: the energy is "
             "`k1 / (2 k2) (exp(k2 (I4 - 1)^2) - 1)`."));
#define YIELD                                                                                      \
  FIELD("yield", material_number, NULL, "Pa",                                                      \
        "Law `hencky`: yield stress, of Mises' equivalent. See docs/reference/materials.md."),     \
      FIELD("hardening", not_negative, NULL, "Pa",                                                 \
            "Its growth with the equivalent plastic strain; default 0."),                          \
      FIELD("saturation", material_number, NULL, "Pa",                                             \
            "Growth of the yield stress that ends, by Voce: `saturation (1 - exp(-rate p))`."),    \
      FIELD("saturation_rate", positive, NULL, NULL, "Rate of that growth.")
#define PRONY                                                                                      \
  FIELD("prony", prony_terms, NULL, NULL,                                                          \
        "Viscoelasticity: pairs of a share of the instantaneous shear modulus and the time in "    \
        "which it relaxes, s. `young` is the long-term modulus. See docs/reference/materials.md.")
#define FIBRE                                                                                      \
  FIELD("fibre", fibre, NULL, NULL,                                                                \
        "Fibres of one direction in a solid, which bear tension only. See "                        \
        "docs/reference/materials.md.")

OBJECT(material, "material", NOLI_SCENE_ANY,
       FIELD("law", law, "\"neo_hookean\"", NULL, "Hyperelastic law.",
             INTO(NoliBodyDef, material.law)),
       FIELD("young", material_field, "1e5", "Pa",
             "Young's modulus. Expressions in X, Y, Z here and in `poisson` and `density` are "
             "evaluated at the centre of each element, a list has one number for each: "
             "docs/reference/materials.md.",
             INTO(NoliBodyDef, material.young)),
       FIELD("poisson", poisson_field, "0.4", NULL, "Poisson's ratio.",
             INTO(NoliBodyDef, material.poisson)),
       FIELD("ogden", ogden_terms, NULL, NULL,
             "Law `ogden`: up to three pairs of shear modulus, Pa, and exponent; they replace "
             "`young`. See docs/reference/materials.md."),
       FIELD("c10", number, NULL, "Pa",
             "Law `mooney_rivlin`: coefficient of the first invariant; replaces `young`."),
       FIELD("c01", number, NULL, "Pa",
             "Law `mooney_rivlin`: coefficient of the second invariant."),
       FIELD("bulk", material_number, NULL, "Pa",
             "Laws `ogden` and `mooney_rivlin` with their parameters: the bulk modulus at rest; "
             "replaces `poisson`."),
       YIELD, FIBRE, PRONY,
       FIELD("density", material_field, "1000", "kg/m^3", "Density at rest.",
             INTO(NoliBodyDef, material.density)),
       FIELD("damping", not_negative, "0", "s",
             "Stiffness-proportional damping: a vibration of frequency f gets the damping ratio "
             "`pi f damping`.",
             INTO(NoliBodyDef, material.damping)),
       FIELD("mass_damping", not_negative, "0", "1/s",
             "Mass-proportional damping, also of rigid motion: a vibration of frequency f gets the "
             "damping ratio `mass_damping / (4 pi f)`.",
             INTO(NoliBodyDef, material.mass_damping)));

SHARED_OBJECT(
    noli_scene_volume_format, "volume", NOLI_SCENE_EXACTLY_ONE,
    GROUPED("region", region_name, NULL,
            "`\"cavity\"`: the cavity enclosed by the body; `\"outside\"`: the body and its "
            "cavities; `\"body\"`: the material of the body.",
            INTO(NoliVolumeDef, region)),
    GROUPED("component", natural_or_zero, NULL,
            "Region inside the connected part of the boundary with this number, from 0 in the "
            "order of the mesh; for bodies with several cavities."),
    GROUPED("tag", integer, NULL, "The tetrahedra with this tag."),
    FIELD("model", volume_model, "\"ideal_gas\"", NULL,
          "Volume law: a gas, a liquid, or a pressure linear in the volume.",
          INTO(NoliVolumeDef, model)),
    FIELD("compression", positive, NULL, "1/Pa",
          "Compression coefficient at rest; default, only for a gas: 1 / (101325 Pa + `pressure`).",
          INTO(NoliVolumeDef, compression)),
    FIELD("pressure", number, "0", "Pa", "Gauge pressure in the rest shape.",
          INTO(NoliVolumeDef, pressure)));
LIST(volume_list, noli_scene_volume_format, 1, "a list of objects");
static const NoliSceneType volumes = EITHER(&noli_scene_volume_format, &volume_list);

OBJECT(proxy, "proxy", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("subdivision", subdivision, NULL,
               "The boundary, with each face split into the square of this number of triangles.",
               INTO(NoliBodyDef, proxy.subdivision)),
       GROUPED("edge_length", positive, "m",
               "The boundary, split until no edge of the placed mesh is longer.",
               INTO(NoliBodyDef, proxy.edge_length)),
       GROUPED("mesh", obstacle_mesh, NULL,
               "Triangles, or the boundary of tetrahedra, placed like the `mesh` of the body; they "
               "move with its elements to `rest`."),
       MERGE,
       FIELD("max_distance", positive, NULL, "m",
             "Maximum distance of vertices of `mesh` from the body; default: a twentieth of its "
             "diagonal.",
             INTO(NoliBodyDef, proxy.max_distance)),
       FIELD("max_extrapolation", positive, "0.5", NULL,
             "How far barycentric coordinates of vertices of `mesh` may be below 0.",
             INTO(NoliBodyDef, proxy.max_extrapolation)),
       FIELD("balance", boolean, "false", NULL,
             "Adjust densities so that the body has the mass and centre of mass of the volume "
             "enclosed by the proxy.",
             INTO(NoliBodyDef, proxy.balance)));
OBJECT(shell, "shell", NOLI_SCENE_ANY,
       REQUIRED("thickness", positive, "m", "Thickness.", INTO(NoliBodyDef, shell.thickness)),
       FIELD("bending", not_negative, "1", NULL,
             "Bending stiffness over that of a plate, E t^3 / (12 (1 - nu^2)).",
             INTO(NoliBodyDef, shell.bending)),
       FIELD("bending_law", bending_law, "\"hinges\"", NULL,
             "`hinges`: each edge by itself, for cloth. `plate`: the curvature of each triangle, "
             "that of a plate on any mesh.",
             INTO(NoliBodyDef, shell.bending_law)),
       FIELD("limit", above_one, NULL, NULL,
             "Principal stretch that no triangle reaches; default: no limit.",
             INTO(NoliBodyDef, shell.limit)),
       FIELD("woven", boolean, "false", NULL,
             "Cloth with warp and weft, whatever the law of the material: `young` along warp.",
             INTO(NoliBodyDef, shell.woven)),
       FIELD("warp", vector, "[0, 0, 0]", NULL,
             "Direction of warp at rest, projected onto each triangle; default: the first edge of "
             "each.",
             INTO(NoliBodyDef, shell.warp)),
       FIELD("weft", positive, "1", NULL, "Stiffness along weft over that along warp.",
             INTO(NoliBodyDef, shell.weft)),
       FIELD("shear", positive, NULL, "Pa",
             "Stiffness in shear of woven shells; default: E / (2 (1 + nu)).",
             INTO(NoliBodyDef, shell.shear)));
OBJECT(
    rod_body, "rod_body", NOLI_SCENE_ANY,
    REQUIRED("radius", positive, "m", "Radius of the cross section.",
             INTO(NoliBodyDef, rod.radius)),
    FIELD("bending", not_negative, "1", NULL,
          "Bending stiffness over that of the section, E pi r^4 / 4 of a round one.",
          INTO(NoliBodyDef, rod.bending)),
    FIELD("twist", not_negative, "0", NULL,
          "Torsional stiffness over that of the section, G pi r^4 / 2 of a round one; 0: the rod "
          "does not resist twist and has no frame.",
          INTO(NoliBodyDef, rod.twist)),
    FIELD("second_radius", positive, NULL, "m",
          "Of an elliptic section with `radius` along `normal`; needs `twist`.",
          INTO(NoliBodyDef, rod.second_radius)),
    FIELD("normal", vector, "[0, 0, 0]", NULL,
          "First axis of an elliptic section at rest, projected across each segment.",
          INTO(NoliBodyDef, rod.normal)));
OBJECT(point_body, "point_body", NOLI_SCENE_ANY,
       REQUIRED("radius", positive, "m", "Radius of the balls whose mass the points have.",
                INTO(NoliBodyDef, point.radius)));
static const NoliSceneType inertia = FIXED_LIST(number, 6, "a list of 6 numbers");
OBJECT(
    rigid_masses, "rigid_body", NOLI_SCENE_ANY,
    FIELD("mass", positive, NULL, "kg",
          "Mass; default: `material.density` times the volume that the surface encloses."),
    FIELD("center", vector, NULL, "m", "Centre of mass in the scene; default: that of the volume."),
    FIELD("inertia", inertia, NULL, "kg m^2",
          "Moments of inertia about the centre in the axes of the scene, xx, yy, zz, xy, yz, xz; "
          "default: those of the volume with this mass."));
static const NoliSceneType rigid_body = EITHER(&boolean, &rigid_masses);
// places (select.c)

SHARED_OBJECT(
    noli_scene_box_region, "box_region", NOLI_SCENE_ANY,
    REQUIRED("min", vector, "m", "Minimum corner."),
    REQUIRED("max", vector, "m", "Maximum corner."),
    FIELD("relative", boolean, "false", NULL,
          "Corners are fractions of the bounding box of the body: 0 minimum, 1 maximum."));
SHARED_OBJECT(noli_scene_sphere_region, "sphere_region", NOLI_SCENE_ANY,
              REQUIRED("center", vector, "m", "Centre."),
              REQUIRED("radius", positive, "m", "Radius."));
SHARED_OBJECT(noli_scene_half_space_region, "half_space_region", NOLI_SCENE_ANY,
              REQUIRED("origin", vector, "m", "A point of its surface."),
              REQUIRED("normal", vector, NULL,
                       "Normal, pointing to the selected side, of any nonzero length."));
LIST(element_list, natural_or_zero, 1, "a list of integers");
OBJECT(element_region, "element_selection", NOLI_SCENE_EXACTLY_ONE,
       GROUPED("box", noli_scene_box_region, NULL,
               "Elements with centres in a box parallel to the axes."),
       GROUPED("sphere", noli_scene_sphere_region, NULL, "Elements with centres in a ball."),
       GROUPED("half_space", noli_scene_half_space_region, NULL,
               "Elements with centres on one side of a plane."),
       GROUPED("side", side_name, NULL,
               "Elements with centres close to one side of the bounding box."),
       GROUPED("tag", integer, NULL, "Elements with this tag in the mesh file."),
       GROUPED("set", text, NULL,
               "Elements all of whose vertices are in this named set of the mesh file. See "
               "docs/reference/import.md."),
       GROUPED("elements", element_list, NULL,
               "Indices of tetrahedra of the mesh (in plane strain and of shells triangles, of "
               "rods segments), refined or not, from 0."),
       FIELD("depth", fraction, "0.01", NULL,
             "With `side`: how deep, as a fraction of the extent of the bounding box."));
LIST(element_region_list, element_region, 1, "a list of selections");
const NoliSceneType noli_scene_element_selection = EITHER(&element_region, &element_region_list);

OBJECT(part_material, "part_material", NOLI_SCENE_ANY,
       FIELD("law", law, NULL, NULL, "Hyperelastic law.", INTO(NoliPartDef, material.law)),
       FIELD("young", material_field, NULL, "Pa", "Young's modulus.",
             INTO(NoliPartDef, material.young)),
       FIELD("poisson", poisson_field, NULL, NULL, "Poisson's ratio.",
             INTO(NoliPartDef, material.poisson)),
       FIELD("density", material_field, NULL, "kg/m^3", "Density at rest.",
             INTO(NoliPartDef, material.density)),
       FIELD("damping", not_negative, NULL, "s", "Stiffness-proportional damping.",
             INTO(NoliPartDef, material.damping)),
       FIELD("ogden", ogden_terms, NULL, NULL,
             "Law `ogden`: up to three pairs of shear modulus, Pa, and exponent."),
       FIELD("c10", number, NULL, "Pa", "Law `mooney_rivlin`."),
       FIELD("c01", number, NULL, "Pa", "Law `mooney_rivlin`."),
       FIELD("bulk", material_number, NULL, "Pa", "Bulk modulus at rest of these laws."), YIELD,
       FIBRE, PRONY);
SHARED_OBJECT(noli_scene_part_format, "part", NOLI_SCENE_ANY,
              REQUIRED("select", noli_scene_element_selection, NULL,
                       "Which elements, by their place at the start; a list is a union."),
              REQUIRED("material", part_material, NULL,
                       "What they are made of; keys that are missing: as the body.", ITS_MEMBERS));
LIST(parts, noli_scene_part_format, 0, "a list of objects");

SHARED_OBJECT(
    noli_scene_body_format, "body", NOLI_SCENE_ANY,
    FIELD("name", text, NULL, NULL, "Name, unique among all entities; default `body_N`, N from 0."),
    REQUIRED("mesh", body_mesh, NULL,
             "File of tetrahedra (.msh, .vtk, .mesh, .inp), or a built-in shape; triangles in "
             "plane strain and for "
             "shells, segments for rods, points. A shell of tetrahedra is their boundary; rods and "
             "points "
             "of a mesh without segments or points are its edges and vertices."),
    PLANE_STRAIN, PLACEMENT,
    FIELD("appearance", mesh_file, NULL, NULL,
          "File (.obj, .ply) whose texture coordinates, materials and groups the surface has in "
          "results "
          "for "
          "other programs, where its triangles are those of the surface, such as the surface that "
          "was filled with tetrahedra: docs/howto/exchange.md; default: `mesh` or the mesh of the "
          "proxy."),
    FIELD("start", start_positions, NULL, "m",
          "Positions at the start, if they are not those of the placed mesh, which stays the rest "
          "shape and decides what selections contain: a mesh file or a list, with one vertex for "
          "each vertex in the simulation, of all copies one after another, in world coordinates. "
          "`noli check --repair` writes such files: docs/howto/repair.md."),
    FIELD("rest", start_positions, NULL, "m",
          "Positions at rest, if they are not those of the placed mesh, which still decides what "
          "selections contain and what expressions of materials give: a mesh file or a list, as "
          "for `start`. Nodes of curved "
          "meshes and proxies follow the vertices. `noli design` writes such files: "
          "docs/howto/design_problems.md."),
    FIELD("material", material, "{}", NULL, "Material.", ITS_MEMBERS),
    FIELD("parts", parts, NULL, NULL,
          "Elements of other materials; where several parts have an element, the last one counts."),
    FIELD("shell", shell, NULL, NULL,
          "If given, the triangles of the mesh are a thin body: docs/background/shells.md",
          ITS_MEMBERS),
    FIELD("rod", rod_body, NULL, NULL,
          "If given, the segments of the mesh are rods: docs/background/rods.md", ITS_MEMBERS),
    FIELD("point", point_body, NULL, NULL,
          "If given, the points of the mesh are free particles: docs/background/rods.md",
          ITS_MEMBERS),
    FIELD(
        "rigid", rigid_body, NULL, NULL,
        "`true`, or given masses: the body moves as a whole and carries the triangles of the mesh, "
        "or the boundary of its tetrahedra: docs/background/rigid.md"),
    FIELD("velocity", vector, "[0, 0, 0]", "m/s", "Initial velocity.", INTO(NoliBodyDef, velocity)),
    FIELD("angular_velocity", vector, "[0, 0, 0]", "rad/s",
          "Initial angular velocity about the centre of mass.",
          INTO(NoliBodyDef, angular_velocity)),
    FIELD("self_contact", boolean, NULL, NULL, "Self-contact of the body; default: `contact.self`.",
          INTO(NoliBodyDef, self_contact)),
    FIELD("contact_offset", shell_offset, "0", "m",
          "Contact keeps this far from the surface, on both sides of a shell; `\"thickness\"`: "
          "half the thickness of a shell, the radius of rods and points. See "
          "docs/background/contact.md.",
          INTO(NoliBodyDef, contact_offset)),
    FIELD("order", shape_order, "1", NULL,
          "Order of the elements, independent of the order of their shape: see "
          "docs/background/high-order.md.",
          INTO(NoliBodyDef, order)),
    FIELD("refine", refinements, NULL, NULL,
          "Number of refinements, each of which splits every cell at the midpoints of its edges: "
          "tetrahedra into 8, triangles into 4; default: 0."),
    FIELD(
        "geometry_order", shape_order, NULL, NULL,
        "Raise or lower the shape of the tetrahedra to this order; default: the order in `mesh`."),
    FIELD("proxy", proxy, NULL, NULL,
          "The surface that collides instead of the boundary; default: the boundary, each face "
          "split according to the higher of the two orders.",
          ITS_MEMBERS),
    FIELD("volume", volumes, NULL, NULL, "Closed regions with a volume law: one, or a list."));

// ---- obstacles ----------------------------------------------------------------------------------

SHARED_OBJECT(
    noli_scene_obstacle_format, "obstacle", NOLI_SCENE_ANY,
    FIELD("name", text, NULL, NULL,
          "Name, unique among all entities; default `obstacle_N`, N from 0."),
    REQUIRED("mesh", obstacle_mesh, NULL,
             "File of triangles, segments, points or tetrahedra, or a built-in shape."),
    FIELD("as", obstacle_kind, "\"surface\"", NULL,
          "Part of the mesh that collides: the surface (the boundary of tetrahedra), only the "
          "edges, or only the vertices."),
    PLANE_STRAIN,
    FIELD("contact_offset", not_negative, "0", "m",
          "Contact keeps this far from the surface, on both sides, and from segments and "
          "points: these are rods and balls of this radius. See docs/background/contact.md.",
          INTO(NoliBodyDef, contact_offset)),
    PLACEMENT,
    FIELD("appearance", mesh_file, NULL, NULL,
          "File (.obj, .ply) whose texture coordinates, materials and groups the surface has in "
          "results "
          "for "
          "other programs, where its triangles are those of the surface, such as the surface that "
          "was filled with tetrahedra: docs/howto/exchange.md; default: `mesh` or the mesh of the "
          "proxy."),
    FIELD("motion", noli_scene_motions, NULL, NULL,
          "A motion, or a list of motions for different times; default: at rest."));
