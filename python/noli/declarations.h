// Generated from include/noli by scripts/python_declarations.py.
#define NOLI_NULL_INDEX -1
#define NOLI_ABI_VERSION 1
#define NOLI_VERSION_NUMBER 2000
typedef enum NoliStatus {
  NOLI_OK = (0),
  NOLI_NOT_CONVERGED = (1),
  NOLI_NOT_POSITIVE_DEFINITE = (2),
  NOLI_LINE_SEARCH_FAILED = (3),
  NOLI_STEP_BLOCKED = (4),
  NOLI_INVERTED_ELEMENT = (5),
  NOLI_NOT_FINITE = (6),
  NOLI_CANCELLED = (7),
  NOLI_ERROR_ARGUMENT = (-1),
  NOLI_ERROR_MEMORY = (-2),
  NOLI_ERROR_IO = (-3),
  NOLI_ERROR_FORMAT = (-4),
  NOLI_ERROR_BACKEND = (-5),
  NOLI_ERROR_INTERSECTION = (-6),
  NOLI_ERROR_TOO_LARGE = (-7),
  NOLI_ERROR_INTERNAL = (-8),
  NOLI_ERROR_AUDIT = (-9),
} NoliStatus;
const char* noli_status_text(NoliStatus status);
const char* noli_version(void);
int32_t noli_version_number(void);
typedef enum NoliLogLevel {
  NOLI_LOG_DEBUG,
  NOLI_LOG_INFO,
  NOLI_LOG_WARNING,
  NOLI_LOG_ERROR,
} NoliLogLevel;
typedef void NoliLogFn(void* user, NoliLogLevel level, const char* message);
typedef void* NoliAllocateFn(void* user, size_t size);
typedef void NoliReleaseFn(void* user, void* memory, size_t size);
typedef struct NoliRanks NoliRanks;
typedef struct NoliContextDef {
  uint32_t size;
  NoliAllocateFn* allocate;
  NoliReleaseFn* release;
  void* allocator_user;
  NoliLogFn* log;
  void* log_user;
  NoliLogLevel log_level;
  int32_t n_threads;
  NoliRanks* ranks;
} NoliContextDef;
void noli_context_def_init(NoliContextDef* def, size_t size);
typedef struct NoliContext NoliContext;
NoliStatus noli_context_create(const NoliContextDef* def, NoliContext** context);
int64_t noli_context_destroy(NoliContext** context);
const char* noli_context_message(const NoliContext* context);
int32_t noli_context_threads(const NoliContext* context);
int64_t noli_context_bytes(const NoliContext* context);
int64_t noli_context_peak_bytes(const NoliContext* context);
typedef struct NoliCcdOptions {
  uint32_t size;
  double safety;
  double min_separation;
  double gap_cap;
  double small_gap;
  int32_t max_iterations;
  const char* method;
  int32_t max_boxes;
} NoliCcdOptions;
void noli_ccd_options_init(NoliCcdOptions* options, size_t size);
bool noli_point_triangle_ccd(const double p_t0[3], const double t0_t0[3], const double t1_t0[3], const double t2_t0[3], const double p_t1[3], const double t0_t1[3], const double t1_t1[3], const double t2_t1[3], const NoliCcdOptions* options, double t_max, double* toi);
bool noli_edge_edge_ccd(const double ea0_t0[3], const double ea1_t0[3], const double eb0_t0[3], const double eb1_t0[3], const double ea0_t1[3], const double ea1_t1[3], const double eb0_t1[3], const double eb1_t1[3], const NoliCcdOptions* options, double t_max, double* toi);
bool noli_point_edge_ccd(const double p_t0[3], const double e0_t0[3], const double e1_t0[3], const double p_t1[3], const double e0_t1[3], const double e1_t1[3], const NoliCcdOptions* options, double t_max, double* toi);
bool noli_point_point_ccd(const double p_t0[3], const double q_t0[3], const double p_t1[3], const double q_t1[3], const NoliCcdOptions* options, double t_max, double* toi);
typedef struct NoliMesh {
  int32_t n_vert;
  int32_t n_tet;
  int32_t n_tri;
  int32_t n_edge;
  int32_t n_point;
  double* x;
  int32_t* tet;
  int32_t* tri;
  int32_t* edge;
  int32_t* point;
  int32_t* tet_tag;
  int32_t* tri_tag;
  int32_t order;
  int32_t n_curve;
  double* curve_x;
  int32_t* curve;
} NoliMesh;
NoliStatus noli_mesh_create(NoliContext* context, int32_t n_vert, int32_t n_tet, int32_t n_tri, int32_t n_edge, int32_t n_point, bool with_tags, NoliMesh** mesh);
void noli_mesh_destroy(NoliContext* context, NoliMesh** mesh);
NoliStatus noli_mesh_read(NoliContext* context, const char* path, NoliMesh** mesh);
typedef struct NoliMeshSets {
  int32_t n;
  char** name;
  int64_t* first;
  int32_t* vertex;
} NoliMeshSets;
NoliStatus noli_mesh_read_sets(NoliContext* context, const char* path, NoliMesh** mesh, NoliMeshSets* sets);
typedef struct NoliMeshSides {
  int32_t n;
  int64_t* first;
  int32_t* tri;
} NoliMeshSides;
NoliStatus noli_mesh_read_sides(NoliContext* context, const char* path, NoliMesh** mesh, NoliMeshSets* sets, NoliMeshSides* sides);
void noli_mesh_sides_free(NoliContext* context, NoliMeshSides* sides);
void noli_mesh_sets_free(NoliContext* context, NoliMeshSets* sets);
NoliStatus noli_mesh_write(NoliContext* context, const char* path, const NoliMesh* mesh);
NoliStatus noli_mesh_boundary(NoliContext* context, const NoliMesh* mesh, int32_t** tri, int32_t* n_tri);
NoliStatus noli_mesh_outline(NoliContext* context, const NoliMesh* mesh, int32_t** edge, int32_t* n_edge);
NoliStatus noli_mesh_edges(NoliContext* context, const int32_t* tri, int32_t n_tri, int32_t** edge, int32_t* n_edge);
void noli_mesh_free_array(NoliContext* context, int32_t** array);
void noli_mesh_bounds(int32_t n, const double* x, double low[3], double high[3]);
int32_t noli_mesh_orient(NoliMesh* mesh);
NoliStatus noli_mesh_remove_unused(NoliContext* context, NoliMesh* mesh);
NoliStatus noli_mesh_refine(NoliContext* context, NoliMesh* mesh, int32_t times);
NoliStatus noli_mesh_set_order(NoliContext* context, NoliMesh* mesh, int32_t order);
NoliStatus noli_mesh_curve_onto(NoliContext* context, NoliMesh* mesh, const double centre[3], const double* axis, double radius, double tolerance, int32_t* n_moved);
NoliStatus noli_mesh_extract(NoliContext* context, const NoliMesh* mesh, const char* part, NoliMesh** out);
typedef struct NoliMeshCheck {
  int32_t n_bad_coordinates;
  int32_t n_bad_indices;
  int32_t n_inverted;
  int32_t n_flat;
  int32_t n_degenerate;
  int32_t n_duplicate_cells;
  int32_t n_non_manifold_edges;
  int32_t n_unused_vertices;
  int32_t first_bad_vertex;
  int32_t first_inverted;
  int32_t first_flat;
  int32_t first_bad_cell;
  int32_t first_degenerate;
  int32_t first_duplicate;
  int32_t first_unused_vertex;
  int32_t first_non_manifold_edge[2];
} NoliMeshCheck;
NoliStatus noli_mesh_check_sized(NoliContext* context, const NoliMesh* mesh, NoliMeshCheck* check, size_t size);
typedef struct NoliMeshCleaned {
  int32_t n_vert;
  int32_t n_merged;
  int32_t n_degenerate;
  int32_t n_duplicate;
  double largest_move;
  int32_t* new_index;
  int32_t* degenerate;
  int32_t* duplicate;
  double reserved[4];
} NoliMeshCleaned;
NoliStatus noli_mesh_clean(NoliContext* context, NoliMesh* mesh, double tolerance, NoliMeshCleaned* cleaned);
void noli_mesh_cleaned_free(NoliContext* context, NoliMeshCleaned* cleaned);
typedef struct NoliMeshQuality {
  double least;
  double mean;
  int32_t worst;
  double worst_centre[3];
  int32_t n_below_tenth;
  double reserved[4];
} NoliMeshQuality;
NoliMeshQuality noli_mesh_quality(const NoliMesh* mesh);
void noli_mesh_transform(NoliMesh* mesh, const double scale[3], const double rotation_deg[3], const double translation[3]);
NoliStatus noli_mesh_make_box(NoliContext* context, const double size[3], const int32_t cells[3], bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_sphere(NoliContext* context, double radius, int32_t cells, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_hollow_sphere(NoliContext* context, double radius, double inner_radius, int32_t cells, int32_t layers, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_cylinder(NoliContext* context, double radius, double height, int32_t cells_across, int32_t cells_along, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_curved_sphere(NoliContext* context, double radius, int32_t cells, int32_t order, NoliMesh** mesh);
NoliStatus noli_mesh_make_curved_cylinder(NoliContext* context, double radius, double height, int32_t cells_across, int32_t cells_along, int32_t order, NoliMesh** mesh);
NoliStatus noli_mesh_make_rod(NoliContext* context, double length, double width, int32_t cells_along, int32_t cells_across, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_mat(NoliContext* context, double length_x, double length_z, double thickness, int32_t cells_x, int32_t cells_z, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_torus(NoliContext* context, double ring_radius, double tube_radius, int32_t cells_around, int32_t cells_across, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_bowl(NoliContext* context, double radius, double thickness, double angle_deg, int32_t cells, int32_t cells_through, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_bolt(NoliContext* context, double radius, double length, double pitch, double depth, int32_t cells_across, int32_t cells_along, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_nut(NoliContext* context, double inner_radius, double outer_radius, double height, double pitch, double depth, int32_t cells_around, int32_t cells_through, int32_t cells_along, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_truss(NoliContext* context, const int32_t joints[3], double spacing, double joint_radius, double strut_radius, int32_t cells_across, int32_t cells_along, int32_t order, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_plane(NoliContext* context, double size_x, double size_z, int32_t cells_x, int32_t cells_z, NoliMesh** mesh);
NoliStatus noli_mesh_make_line(NoliContext* context, double length, int32_t n_segment, NoliMesh** mesh);
NoliStatus noli_mesh_make_helix(NoliContext* context, double radius, double pitch, double turns, int32_t n_segment, NoliMesh** mesh);
NoliStatus noli_mesh_make_curve(NoliContext* context, const double* point, int32_t n_point, int32_t n_segment, NoliMesh** mesh);
NoliStatus noli_mesh_make_rectangle(NoliContext* context, double size_x, double size_y, int32_t cells_x, int32_t cells_y, NoliMesh** mesh);
NoliStatus noli_mesh_make_disk(NoliContext* context, double radius, int32_t cells, NoliMesh** mesh);
NoliStatus noli_mesh_make_polygon(NoliContext* context, const double* point, int32_t n_point, int32_t cells, NoliMesh** mesh);
NoliStatus noli_mesh_make_voxels(NoliContext* context, const double size[3], const int32_t cells[3], const bool* filled, bool surface, NoliMesh** mesh);
NoliStatus noli_mesh_make_revolution(NoliContext* context, const double* profile, int32_t n_point, int32_t cells_around, NoliMesh** mesh);
NoliStatus noli_mesh_make_sheet(NoliContext* context, double size_x, double size_y, int32_t cells_x, int32_t cells_y, const char* pattern, NoliMesh** mesh);
NoliStatus noli_mesh_make_ring_disk(NoliContext* context, double radius, int32_t rings, NoliMesh** mesh);
NoliStatus noli_mesh_make_tube(NoliContext* context, double radius, double height, int32_t cells_around, int32_t cells_along, NoliMesh** mesh);
NoliStatus noli_mesh_make_icosphere(NoliContext* context, double radius, int32_t subdivision, NoliMesh** mesh);
NoliStatus noli_mesh_make_torus_shell(NoliContext* context, double ring_radius, double tube_radius, int32_t cells_around, int32_t cells_across, NoliMesh** mesh);
NoliStatus noli_mesh_make_moebius(NoliContext* context, double radius, double width, int32_t cells_around, int32_t cells_across, NoliMesh** mesh);
NoliStatus noli_mesh_make_chain_mail(NoliContext* context, const int32_t rings[2], double radius, int32_t cells_around, NoliMesh** mesh);
NoliStatus noli_mesh_make_solid_chain_mail( NoliContext* context, const int32_t rings[2], double radius, double tube_radius, int32_t cells_around, int32_t cells_across, NoliMesh** mesh);
typedef struct NoliProny {
  int32_t n;
  int32_t reserved;
  double share[16];
  double time[16];
} NoliProny;
typedef struct NoliMaterialDef {
  const char* law;
  double young;
  double poisson;
  double density;
  double damping;
  double mass_damping;
  double parameter[6];
  const NoliProny* prony;
  void* reserved[1];
} NoliMaterialDef;
typedef struct NoliShellDef {
  double thickness;
  double bending;
  double limit;
  bool woven;
  double warp[3];
  double weft;
  double shear;
  const char* bending_law;
  double reserved[7];
} NoliShellDef;
typedef struct NoliRodDef {
  double radius;
  double bending;
  double twist;
  double second_radius;
  double normal[3];
  double reserved[3];
} NoliRodDef;
typedef struct NoliPointDef {
  double radius;
  double reserved[7];
} NoliPointDef;
typedef struct NoliRigidDef {
  bool rigid;
  bool at_centre;
  double mass;
  double centre[3];
  double inertia[6];
  double volume;
  double reserved[5];
} NoliRigidDef;
NoliMaterialDef noli_default_material_def(void);
typedef struct NoliSheetForces {
  double membrane[6];
  double bending[6];
} NoliSheetForces;
typedef struct NoliRodForces {
  double tension;
  double bending[3];
  double twist;
} NoliRodForces;
typedef struct NoliStress {
  double cauchy[6];
  double principal[3];
  double first_piola[9];
  double green_strain[6];
  double von_mises;
} NoliStress;
typedef struct NoliPairForce {
  int32_t a;
  int32_t b;
  int64_t contacts;
  double normal[3];
  double friction[3];
  double min_distance;
  double reserved[3];
} NoliPairForce;
typedef enum NoliSticking {
  NOLI_STICKING_NONE = 0,
  NOLI_STICKING_HELD = 1,
  NOLI_STICKING_SLIDING = 2,
} NoliSticking;
typedef struct NoliContactInfo {
  int32_t entity[2];
  int32_t vertex[4];
  int32_t n_first;
  NoliSticking sticking;
  double position[2][3];
  double normal[3];
  double gap;
  double normal_force[3];
  double friction_force[3];
  double slip[3];
  double slid;
  double reserved[2];
} NoliContactInfo;
typedef enum NoliSizeOf {
  NOLI_ABSOLUTE = 0,
  NOLI_OF_BOX = 1,
  NOLI_OF_BALL = 2,
} NoliSizeOf;
typedef struct NoliScaled {
  double value;
  uint8_t relative;
} NoliScaled;
typedef struct NoliProxyDef {
  const char* kind;
  int32_t subdivision;
  double edge_length;
  const NoliMesh* mesh;
  double max_distance;
  double max_extrapolation;
  bool balance;
  const int32_t* carrier;
  const double* place;
  void* reserved[2];
} NoliProxyDef;
NoliProxyDef noli_default_proxy_def(void);
typedef enum NoliFrictionIterations {
  NOLI_FRICTION_AUTOMATIC = 0,
NOLI_FRICTION_UNTIL_CONVERGENCE = -1 } NoliFrictionIterations;
typedef struct NoliMaterialFields {
  const double* young;
  const double* poisson;
  const double* density;
  const double* fibre;
  const double* reserved[1];
} NoliMaterialFields;
typedef struct NoliPartDef {
  const int32_t* element;
  int32_t n_element;
  NoliMaterialDef material;
  NoliMaterialFields fields;
  double reserved[3];
} NoliPartDef;
typedef struct NoliBodyDef {
  uint32_t size;
  const char* name;
  const NoliMesh* mesh;
  const double* x0;
  int32_t order;
  NoliProxyDef proxy;
  NoliMaterialDef material;
  double velocity[3];
  double angular_velocity[3];
  bool obstacle;
  bool self_contact;
  double plane_strain;
  NoliShellDef shell;
  const NoliPartDef* parts;
  int32_t n_parts;
  double contact_offset;
  NoliRodDef rod;
  NoliPointDef point;
  NoliMaterialFields fields;
  const char* where;
  NoliRigidDef rigid;
} NoliBodyDef;
void noli_body_def_init(NoliBodyDef* def, size_t size);
typedef struct NoliHalfSpaceDef {
  uint32_t size;
  const char* name;
  double origin[3];
  double normal[3];
  double contact_offset;
} NoliHalfSpaceDef;
void noli_half_space_def_init(NoliHalfSpaceDef* def, size_t size);
typedef void NoliMotionFn(void* user, double t0, double t1, int32_t n_node, const int32_t* node, const double* X, const double* x_t0, double* x_t1);
typedef struct NoliMotionDef {
  uint32_t size;
  int32_t body;
  const int32_t* node;
  int32_t n_node;
  double t_begin;
  double t_end;
  NoliMotionFn* target;
  void* user;
  bool free_axis[3];
  bool ends_beyond;
  double end_origin[3];
  double end_normal[3];
  const char* name;
  bool controlled;
  double change;
  double velocity[3];
  double spin[3];
  double pivot[3];
  const char* where;
} NoliMotionDef;
void noli_motion_def_init(NoliMotionDef* def, size_t size);
typedef void NoliForceFn(void* user, double t, const double X[3], double value[3]);
typedef struct NoliForceDef {
  uint32_t size;
  int32_t body;
  const int32_t* node;
  int32_t n_node;
  const char* kind;
  double t_begin;
  double t_end;
  NoliForceFn* value;
  void* user;
  const char* name;
  bool controlled;
  const char* where;
  double change;
  const int32_t* face;
  int32_t n_face;
} NoliForceDef;
void noli_force_def_init(NoliForceDef* def, size_t size);
typedef struct NoliPairDef {
  uint32_t size;
  int32_t a;
  int32_t b;
  bool contact;
  double friction;
  double static_friction;
  NoliScaled stribeck_speed;
  double viscosity;
  const char* name_a;
  const char* name_b;
  NoliScaled distance;
  const char* where;
  double direction[3];
  double friction_across;
  double adhesion;
  NoliScaled adhesion_range;
} NoliPairDef;
void noli_pair_def_init(NoliPairDef* def, size_t size);
typedef struct NoliVolumeDef {
  uint32_t size;
  int32_t body;
  const char* region;
  int32_t index;
  const int32_t* tri;
  int32_t n_tri;
  const char* model;
  double compression;
  double pressure;
  const char* where;
} NoliVolumeDef;
void noli_volume_def_init(NoliVolumeDef* def, size_t size);
typedef struct NoliTieDef {
  uint32_t size;
  int32_t body;
  const int32_t* node;
  int32_t n_node;
  int32_t to;
  NoliScaled distance;
  const char* where;
} NoliTieDef;
void noli_tie_def_init(NoliTieDef* def, size_t size);
typedef struct NoliSpringDef {
  uint32_t size;
  const char* name;
  int32_t body;
  const int32_t* node;
  int32_t n_node;
  int32_t to;
  const int32_t* to_node;
  int32_t n_to_node;
  bool pairwise;
  bool at_point;
  double point[3];
  double stiffness;
  double length;
  double damping;
  const char* where;
} NoliSpringDef;
void noli_spring_def_init(NoliSpringDef* def, size_t size);
typedef double NoliTimeFn(void* user, double t);
typedef struct NoliCoordinateDef {
  double lower;
  double upper;
  double stiffness;
  double rest;
  double damping;
  double friction;
  double armature;
  const char* motor;
  double target;
  NoliTimeFn* target_at;
  void* user;
  double motor_stiffness;
  double motor_damping;
  double max_effort;
  const char* follows;
  double ratio;
  double start;
  void* reserved[4];
} NoliCoordinateDef;
NoliCoordinateDef noli_default_coordinate_def(void);
typedef struct NoliJointDef {
  uint32_t size;
  const char* name;
  const char* type;
  int32_t body;
  int32_t to;
  double at[3];
  double axis[3];
  bool has_to_at;
  bool contact;
  double to_at[3];
  const char* where;
  double to_axis[3];
  NoliCoordinateDef coordinate;
  NoliCoordinateDef travel;
  double lead;
} NoliJointDef;
void noli_joint_def_init(NoliJointDef* def, size_t size);
typedef struct NoliAugmentedLagrangianDef {
  double stiffness_ratio;
  double decay;
  bool filter;
  bool multipliers;
  void* reserved[4];
} NoliAugmentedLagrangianDef;
NoliAugmentedLagrangianDef noli_default_augmented_lagrangian_def(void);
typedef struct NoliImplicitNewtonDef {
  const char* linear;
  void* reserved[4];
} NoliImplicitNewtonDef;
NoliImplicitNewtonDef noli_default_implicit_newton_def(void);
typedef struct NoliGcpContactDef {
  NoliScaled eps_target;
  double alpha;
  double beta;
  NoliScaled length;
  bool act_at_rest;
  void* reserved[4];
} NoliGcpContactDef;
NoliGcpContactDef noli_default_geometric_def(void);
typedef struct NoliIncrementDef {
  double initial;
  double smallest;
  int32_t easy_iterations;
  int32_t hard_iterations;
  void* reserved[4];
} NoliIncrementDef;
NoliIncrementDef noli_default_increment_def(void);
typedef struct NoliSimDef {
  uint32_t size;
  const NoliBodyDef* bodies;
  int32_t n_bodies;
  const NoliHalfSpaceDef* half_spaces;
  int32_t n_half_spaces;
  const NoliMotionDef* motions;
  int32_t n_motions;
  const NoliForceDef* forces;
  int32_t n_forces;
  const NoliPairDef* pairs;
  int32_t n_pairs;
  const NoliVolumeDef* volumes;
  int32_t n_volumes;
  double gravity[3];
  double time_step;
  const char* integrator;
  bool contact;
  const char* contact_model;
  NoliGcpContactDef gcp;
  NoliScaled surface_radius;
  NoliScaled contact_distance;
  double barrier_stiffness;
  const char* ccd;
  double friction;
  double static_friction;
  NoliScaled stribeck_speed;
  double viscosity;
  NoliScaled friction_speed;
  const char* friction_method;
  bool friction_basis_derivatives;
  int32_t friction_iterations;
  const char* solver;
  const char* termination;
  NoliScaled tolerance;
  double toi_tolerance;
  int32_t min_iterations;
  int32_t max_iterations;
  int32_t max_substeps;
  const char* linear_solver;
  double linear_tolerance;
  NoliAugmentedLagrangianDef augmented_lagrangian;
  NoliImplicitNewtonDef implicit_newton;
  const char* audit;
  const NoliTieDef* ties;
  int32_t n_ties;
  const NoliSpringDef* springs;
  int32_t n_springs;
  NoliIncrementDef increments;
  const char* petsc_options;
  bool whole_elements;
  bool unused[7];
  bool borrow_meshes;
  double imbalance;
  const char* where;
  const char* friction_law;
  NoliScaled stick_length;
  double adhesion;
  NoliScaled adhesion_range;
  bool contact_convergent;
  const NoliJointDef* joints;
  int32_t n_joints;
} NoliSimDef;
void noli_sim_def_init(NoliSimDef* def, size_t size);
typedef struct NoliDefSizes {
  uint32_t size;
  uint32_t sim;
  uint32_t body;
  uint32_t half_space;
  uint32_t motion;
  uint32_t force;
  uint32_t pair;
  uint32_t volume;
  uint32_t tie;
  uint32_t spring;
  uint32_t joint;
} NoliDefSizes;
typedef struct NoliSim NoliSim;
typedef struct NoliNewtonStat {
  double energy_change;
  double residual;
  double step_speed;
  double alpha_inversion;
  double alpha_ccd;
  double alpha;
  double beta;
  double mu;
  double min_gap;
  int64_t contacts;
  int64_t active;
  int64_t added;
  int64_t removed;
  double penetration;
  double condition;
  int32_t linear_iterations;
  int32_t friction_iteration;
  int32_t stage;
  double merit;
  int32_t fallback;
  double reserved[4];
} NoliNewtonStat;
typedef struct NoliStepTiming {
  double assemble;
  double linear;
  double ccd;
  double contacts;
  double line_search;
  double other;
  double reserved[2];
} NoliStepTiming;
typedef struct NoliStepReport {
  int64_t step;
  double time;
  double wall;
  int32_t newton_iterations;
  int32_t friction_iterations;
  int64_t linear_iterations;
  int64_t contacts;
  int64_t contacts_max;
  double min_distance;
  double kappa;
  int32_t stiffness_increases;
  double kinetic;
  double elastic;
  double gravity;
  double contact_energy;
  double friction_energy;
  double volume_energy;
  double damping_loss;
  double friction_loss;
  double friction_ratio;
  double friction_error;
  double momentum[3];
  double max_speed;
  double motion_done;
  double motion_error;
  const char* blocked_by;
  NoliStepTiming timing;
  int32_t fallbacks;
  int32_t substeps;
  int32_t retries;
  const NoliNewtonStat* newton;
  int32_t linear_fallbacks;
  int32_t solver_fallbacks;
  double increment;
  double imbalance;
  double friction_stored;
  int64_t contacts_held;
  int64_t contacts_sliding;
  double slid;
  double adhesion_energy;
  double rigid_stretch;
  double joint_gap;
} NoliStepReport;
NoliStatus noli_sim_create(NoliContext* context, const NoliSimDef* def, NoliSim** sim);
void noli_sim_destroy(NoliSim** sim);
typedef enum NoliDefectKind {
  NOLI_DEFECT_INTERSECTION,
  NOLI_DEFECT_ZERO_GAP,
  NOLI_DEFECT_HALF_SPACE,
  NOLI_DEFECT_INVERTED,
  NOLI_DEFECT_PENETRATION,
  NOLI_DEFECT_NESTED,
} NoliDefectKind;
typedef struct NoliDefect {
  NoliDefectKind kind;
  int32_t entity[2];
  int32_t n_vert[2];
  int32_t vertex[2][4];
  double position[3];
  double distance;
  double reserved[2];
} NoliDefect;
NoliStatus noli_sim_check(NoliContext* context, const NoliSimDef* def, NoliDefect** defects, int64_t* n_defects);
void noli_sim_check_free(NoliContext* context, NoliDefect** defects);
NoliStatus noli_sim_check_conditions(NoliContext* context, const NoliSimDef* def, int64_t n_steps);
typedef struct NoliSimMeasures {
  double contact_distance;
  double* volume;
  double* mass;
  double box;
  double ball;
  double stick_length;
} NoliSimMeasures;
NoliStatus noli_sim_measure_sized(NoliContext* context, const NoliSimDef* def, NoliSimMeasures* measures, size_t size);
void noli_sim_measures_free(NoliContext* context, NoliSimMeasures* measures);
NoliStatus noli_sim_step_sized(NoliSim* sim, NoliStepReport* report, size_t size);
double noli_sim_time(const NoliSim* sim);
int64_t noli_sim_step_count(const NoliSim* sim);
int32_t noli_sim_body_count(const NoliSim* sim);
int32_t noli_sim_node_count(const NoliSim* sim);
int32_t noli_sim_vertex_count(const NoliSim* sim);
int32_t noli_sim_tet_count(const NoliSim* sim);
int32_t noli_sim_surface_triangle_count(const NoliSim* sim);
void noli_sim_body_range(const NoliSim* sim, int32_t body, int32_t* first, int32_t* count);
double noli_sim_contact_distance(const NoliSim* sim);
const char* noli_sim_integrator(const NoliSim* sim);
const char* noli_sim_entity_name(const NoliSim* sim, int32_t entity);
const double* noli_sim_rest_positions(const NoliSim* sim);
const double* noli_sim_positions(const NoliSim* sim);
const double* noli_sim_velocities(const NoliSim* sim);
const double* noli_sim_masses(const NoliSim* sim);
const int32_t* noli_sim_tets(const NoliSim* sim);
const int32_t* noli_sim_surface_triangles(const NoliSim* sim);
const int32_t* noli_sim_segments(const NoliSim* sim, int32_t* n_segments);
const int32_t* noli_sim_points(const NoliSim* sim, int32_t* n_points);
NoliStatus noli_sim_contact_forces(NoliSim* sim, double* force);
NoliStatus noli_sim_friction_forces(NoliSim* sim, double* force);
NoliStatus noli_sim_von_mises(NoliSim* sim, double* stress);
NoliStatus noli_sim_plastic_strains(NoliSim* sim, double* strain);
typedef enum NoliDiagnosisKind {
  NOLI_DIAGNOSIS_CONTACT,
  NOLI_DIAGNOSIS_INVERSION,
  NOLI_DIAGNOSIS_LINE_SEARCH,
  NOLI_DIAGNOSIS_MOTION,
  NOLI_DIAGNOSIS_CLOSEST,
} NoliDiagnosisKind;
typedef struct NoliDiagnosis {
  NoliDiagnosisKind kind;
  int32_t iterations;
  double alpha;
  int32_t entity[2];
  int32_t n_vert[2];
  int32_t vertex[2][4];
  double distance;
  double position[3];
  double reserved[2];
} NoliDiagnosis;
NoliStatus noli_sim_diagnosis(NoliSim* sim, const NoliDiagnosis** diagnosis, int32_t* n);
const char* noli_diagnosis_name(NoliDiagnosisKind kind);
NoliStatus noli_sim_stresses(NoliSim* sim, NoliStress* stress);
NoliStatus noli_sim_nodal_stresses(NoliSim* sim, NoliStress* stress);
NoliStatus noli_sim_sheet_forces(NoliSim* sim, NoliSheetForces* forces);
NoliStatus noli_sim_rod_forces(NoliSim* sim, NoliRodForces* forces);
NoliStatus noli_sim_pair_forces(NoliSim* sim, const NoliPairForce** pairs, int32_t* n_pairs);
typedef struct NoliRegionVolume {
  int32_t body;
  double rest_volume;
  double volume;
  double pressure;
  double energy;
  double reserved[2];
} NoliRegionVolume;
NoliStatus noli_sim_volumes(NoliSim* sim, const NoliRegionVolume** volumes, int32_t* n_volumes);
typedef struct NoliSpringForce {
  int32_t body;
  int32_t to;
  int32_t n;
  double force[3];
  double length;
  double energy;
  double reserved[2];
} NoliSpringForce;
NoliStatus noli_sim_springs(NoliSim* sim, const NoliSpringForce** springs, int32_t* n_springs);
NoliStatus noli_sim_spring_forces(NoliSim* sim, double* force);
typedef struct NoliJointState {
  int32_t body;
  int32_t to;
  int32_t n;
  double coordinate[2];
  double speed[2];
  double motor[2];
  double limit[2];
  double spring[2];
  double damper[2];
  double friction[2];
  double at[3];
  double force[3];
  double torque[3];
  double reserved[4];
} NoliJointState;
NoliStatus noli_sim_joints(NoliSim* sim, const NoliJointState** joints, int32_t* n_joints);
typedef struct NoliProbeDef {
  const char* name;
  const char* quantity;
  const char* reduction;
  const int32_t* node;
  int32_t n_node;
  int32_t body;
  void* reserved[2];
} NoliProbeDef;
NoliStatus noli_sim_set_state(NoliSim* sim, const double* x, const double* v);
typedef enum NoliFieldType {
  NOLI_FIELD_DOUBLE,
NOLI_FIELD_INT64 } NoliFieldType;
typedef struct NoliStateField {
  const char* name;
  void* data;
  int64_t count;
  NoliFieldType type;
} NoliStateField;
bool noli_sim_state_field_sized(NoliSim* sim, int32_t index, NoliStateField* field, size_t size);
int64_t noli_sim_constraint_count(const NoliSim* sim);
NoliStatus noli_sim_set_constraint_count(NoliSim* sim, int64_t count);
int64_t noli_sim_slip_count(const NoliSim* sim);
NoliStatus noli_sim_set_slip_count(NoliSim* sim, int64_t count);
uint64_t noli_sim_state_hash(const NoliSim* sim);
const char* noli_sim_state_difference(const NoliSim* one, const NoliSim* other);
NoliStatus noli_sim_copy_state(NoliSim* sim, const NoliSim* from);
typedef enum NoliFindingKind {
  NOLI_FINDING_INTERSECTION,
  NOLI_FINDING_HALF_SPACE,
  NOLI_FINDING_INVERTED,
  NOLI_FINDING_NOT_FINITE,
  NOLI_FINDING_FILE,
  NOLI_FINDING_TIME,
  NOLI_FINDING_BALANCE,
  NOLI_FINDING_NESTED,
} NoliFindingKind;
const char* noli_finding_kind_name(NoliFindingKind kind);
typedef struct NoliFinding {
  NoliFindingKind kind;
  char file[64];
  int64_t step;
  char entity[2][64];
  NoliDefect defect;
  char message[640];
  double reserved[4];
} NoliFinding;
typedef struct NoliRunAudit {
  int64_t n_frames;
  int64_t n_checkpoints;
  int64_t n_rows;
  bool ended;
  int64_t n_found;
  NoliFinding* findings;
  int64_t n_findings;
} NoliRunAudit;
NoliStatus noli_run_audit_sized(NoliContext* context, const char* directory, NoliRunAudit* audit, size_t size);
void noli_run_audit_free(NoliContext* context, NoliRunAudit* audit);
double noli_barrier(double d_sqr, double dhat_sqr);
double noli_barrier_first(double d_sqr, double dhat_sqr);
double noli_barrier_second(double d_sqr, double dhat_sqr);
typedef struct NoliTriplet {
  int32_t row;
  int32_t column;
  double value;
} NoliTriplet;
typedef struct NoliBarrierPotential NoliBarrierPotential;
NoliStatus noli_barrier_potential_create( NoliContext* context, const double* X, int32_t n_vert, const int32_t* tri, int32_t n_tri, double dhat, NoliBarrierPotential** potential);
void noli_barrier_potential_destroy(NoliBarrierPotential** potential);
NoliStatus noli_barrier_potential_update(NoliBarrierPotential* potential, const double* x);
int64_t noli_barrier_potential_pairs(const NoliBarrierPotential* potential);
double noli_barrier_potential_min_distance(const NoliBarrierPotential* potential);
double noli_barrier_potential_value(const NoliBarrierPotential* potential);
void noli_barrier_potential_gradient(const NoliBarrierPotential* potential, double* gradient);
NoliStatus noli_barrier_potential_hessian(NoliBarrierPotential* potential, bool projected, const NoliTriplet** triplets, int64_t* n_triplets);
int32_t noli_sim_motion_count(const NoliSim* sim);
int32_t noli_sim_force_count(const NoliSim* sim);
int32_t noli_sim_entity_count(const NoliSim* sim);
int32_t noli_sim_find_motion(const NoliSim* sim, const char* name);
int32_t noli_sim_find_force(const NoliSim* sim, const char* name);
int32_t noli_sim_find_entity(const NoliSim* sim, const char* name);
const char* noli_sim_motion_name(const NoliSim* sim, int32_t motion);
const char* noli_sim_force_name(const NoliSim* sim, int32_t force);
int32_t noli_sim_spring_count(const NoliSim* sim);
int32_t noli_sim_find_spring(const NoliSim* sim, const char* name);
const char* noli_sim_spring_name(const NoliSim* sim, int32_t spring);
int32_t noli_sim_joint_count(const NoliSim* sim);
int32_t noli_sim_find_joint(const NoliSim* sim, const char* name);
const char* noli_sim_joint_name(const NoliSim* sim, int32_t joint);
NoliStatus noli_sim_set_joint_target(NoliSim* sim, int32_t joint, int32_t coordinate, double target);
double noli_sim_joint_target(const NoliSim* sim, int32_t joint, int32_t coordinate);
const int32_t* noli_sim_motion_nodes(const NoliSim* sim, int32_t motion, int32_t* n_node);
double* noli_sim_motion_targets(NoliSim* sim, int32_t motion, int32_t* n_node);
typedef struct NoliPose {
  double position[3];
  double quaternion[4];
} NoliPose;
NoliStatus noli_sim_set_pose(NoliSim* sim, int32_t motion, const NoliPose* pose);
double* noli_sim_force_values(NoliSim* sim, int32_t force, const int32_t** node, int32_t* n_node);
void noli_sim_gravity(const NoliSim* sim, double gravity[3]);
NoliStatus noli_sim_set_gravity(NoliSim* sim, const double gravity[3]);
NoliStatus noli_sim_set_time_step(NoliSim* sim, double time_step);
double noli_sim_time_step(const NoliSim* sim);
NoliStatus noli_sim_set_time(NoliSim* sim, double time);
NoliStatus noli_sim_pair(const NoliSim* sim, int32_t a, int32_t b, NoliPairDef* pair);
NoliStatus noli_sim_set_pair(NoliSim* sim, const NoliPairDef* pair);
NoliStatus noli_sim_material(const NoliSim* sim, int32_t body, int32_t part, NoliMaterialDef* material);
NoliStatus noli_sim_set_material(NoliSim* sim, int32_t body, int32_t part, const NoliMaterialDef* material);
NoliStatus noli_sim_reset(NoliSim* sim);
NoliStatus noli_sim_clone(const NoliSim* sim, NoliContext* context, NoliSim** clone);
size_t noli_sim_state_bytes(const NoliSim* sim);
NoliStatus noli_sim_save_state(const NoliSim* sim, void* buffer, size_t size);
NoliStatus noli_sim_load_state(NoliSim* sim, const void* buffer, size_t size);
NoliStatus noli_sim_add_body(NoliSim* sim, const NoliBodyDef* body, int32_t* index);
NoliStatus noli_sim_remove_body(NoliSim* sim, int32_t body);
typedef bool NoliProgressFn(void* user, const NoliSim* sim, const NoliNewtonStat* iteration);
void noli_sim_set_progress(NoliSim* sim, NoliProgressFn* progress, void* user);
typedef struct NoliEnergies {
  double kinetic;
  double elastic;
  double gravity;
  double volume;
  double contact;
} NoliEnergies;
NoliStatus noli_sim_energies_sized(NoliSim* sim, NoliEnergies* energies, size_t size);
NoliStatus noli_sim_body_energies(NoliSim* sim, double* kinetic, double* elastic, double* gravity);
NoliStatus noli_sim_nodal_energies(NoliSim* sim, double* kinetic, double* elastic, double* gravity);
typedef struct NoliBodyState {
  double mass;
  double rest_volume;
  double centre[3];
  double velocity[3];
  double momentum[3];
  double inertia[9];
  double angular_momentum[3];
  double angular_velocity[3];
} NoliBodyState;
NoliStatus noli_sim_body_state_sized(NoliSim* sim, int32_t body, NoliBodyState* state, size_t size);
typedef struct NoliWrench {
  double normal[3];
  double friction[3];
  double normal_moment[3];
  double friction_moment[3];
} NoliWrench;
NoliStatus noli_sim_wrench_sized(NoliSim* sim, int32_t entity, const double origin[3], NoliWrench* wrench, size_t size);
NoliStatus noli_sim_reaction_forces(NoliSim* sim, double* force);
typedef struct NoliReaction {
  double force[3];
  double moment[3];
} NoliReaction;
NoliStatus noli_sim_reaction_sized(NoliSim* sim, int32_t motion, const double origin[3], NoliReaction* reaction, size_t size);
NoliStatus noli_sim_contacts(NoliSim* sim, const NoliContactInfo** contacts, int64_t* n_contacts);
NoliStatus noli_sim_contact_pressures(NoliSim* sim, double* pressure, double* gap);
NoliStatus noli_sim_contact_slips(NoliSim* sim, double* slid, int32_t* sticking);
typedef struct NoliSurfacePoint {
  int32_t entity;
  int32_t n_vert;
  int32_t vertex[3];
  double weight[3];
  double position[3];
  double normal[3];
  double distance;
  double reserved[4];
} NoliSurfacePoint;
NoliStatus noli_sim_cast_ray(NoliSim* sim, const double origin[3], const double direction[3], double length, NoliSurfacePoint* hit);
NoliStatus noli_sim_closest_point(NoliSim* sim, const double position[3], double max_distance, NoliSurfacePoint* closest);
NoliStatus noli_sim_modes(NoliSim* sim, int32_t n, double* frequency, double* shape);
typedef struct NoliBatch NoliBatch;
NoliStatus noli_batch_create(NoliContext* context, const NoliSim* sim, int32_t n, int32_t n_threads, NoliBatch** batch);
void noli_batch_destroy(NoliBatch** batch);
int32_t noli_batch_count(const NoliBatch* batch);
NoliSim* noli_batch_sim(NoliBatch* batch, int32_t index);
const char* noli_batch_message(const NoliBatch* batch, int32_t index);
NoliStatus noli_batch_step_sized(NoliBatch* batch, const bool* chosen, NoliStatus* status, NoliStepReport* reports, size_t size);
NoliStatus noli_batch_reset(NoliBatch* batch, const bool* chosen);
NoliStatus noli_batch_set_targets(NoliBatch* batch, int32_t motion, const double* target);
NoliStatus noli_batch_set_poses(NoliBatch* batch, int32_t motion, const NoliPose* pose);
NoliStatus noli_batch_set_forces(NoliBatch* batch, int32_t force, const double* value);
NoliStatus noli_batch_set_joint_targets(NoliBatch* batch, int32_t joint, int32_t coordinate, const double* target);
NoliStatus noli_batch_joints(NoliBatch* batch, NoliJointState* joints);
NoliStatus noli_batch_positions(NoliBatch* batch, double* x);
NoliStatus noli_batch_velocities(NoliBatch* batch, double* v);
NoliStatus noli_batch_body_states_sized(NoliBatch* batch, int32_t body, NoliBodyState* states, size_t size);
NoliStatus noli_batch_wrenches_sized(NoliBatch* batch, int32_t entity, NoliWrench* wrenches, size_t size);
typedef struct NoliCandidatePairs {
  int64_t n_point_triangle;
  int64_t n_edge_edge;
  int32_t n_edge;
  int32_t* point_triangle;
  int32_t* edge_edge;
  int32_t* edge;
} NoliCandidatePairs;
NoliStatus noli_candidates_find(NoliContext* context, int32_t n_vert, const double* x_t0, const double* x_t1, int32_t n_tri, const int32_t* tri, int32_t n_segment, const int32_t* segment, double inflation, NoliCandidatePairs** pairs);
void noli_candidates_destroy(NoliContext* context, NoliCandidatePairs** pairs);
typedef struct NoliMeshIntersection {
  int32_t edge[2];
  int32_t tri;
  double position[3];
  double reserved[2];
} NoliMeshIntersection;
NoliStatus noli_mesh_intersections(NoliContext* context, int32_t n_vert, const double* x, int32_t n_tri, const int32_t* tri, NoliMeshIntersection** intersections, int64_t* n_intersections);
void noli_mesh_intersections_free(NoliContext* context, NoliMeshIntersection** intersections);
typedef enum NoliChoice {
  NOLI_CHOICE_INTEGRATOR,
  NOLI_CHOICE_SOLVER,
  NOLI_CHOICE_TERMINATION,
  NOLI_CHOICE_CONTACT_MODEL,
  NOLI_CHOICE_FRICTION_METHOD,
  NOLI_CHOICE_LINEAR_SOLVER,
  NOLI_CHOICE_GENERAL_SOLVER,
  NOLI_CHOICE_CCD,
  NOLI_CHOICE_AUDIT,
  NOLI_CHOICE_MATERIAL,
  NOLI_CHOICE_PROXY,
  NOLI_CHOICE_FORCE,
  NOLI_CHOICE_VOLUME_REGION,
  NOLI_CHOICE_VOLUME_MODEL,
  NOLI_CHOICE_MESH_PART,
  NOLI_CHOICE_SHEET_PATTERN,
  NOLI_CHOICE_PROBE_QUANTITY,
  NOLI_CHOICE_PROBE_REDUCTION,
  NOLI_CHOICE_GOAL_QUANTITY,
  NOLI_CHOICE_GOAL_REDUCTION,
  NOLI_CHOICE_GOAL_FORM,
  NOLI_CHOICE_GOAL_TIME,
  NOLI_CHOICE_DESIGN_CONTROL,
  NOLI_CHOICE_DESIGN_METHOD,
  NOLI_CHOICE_PARAMETER,
  NOLI_CHOICE_PARAMETER_SCOPE,
  NOLI_CHOICE_GRADIENT_MODE,
  NOLI_CHOICE_FRICTION_LAW,
  NOLI_CHOICE_JOINT,
  NOLI_CHOICE_MOTOR,
} NoliChoice;
int32_t noli_choice_kinds(void);
const char* noli_choice_kind(NoliChoice kind);
int32_t noli_choice_count(NoliChoice kind);
const char* noli_choice_name(NoliChoice kind, int32_t index);
const char* noli_choice_description(NoliChoice kind, int32_t index);
int32_t noli_choice_find(NoliChoice kind, const char* name);
typedef struct NoliParameterDef {
  const char* kind;
  const char* of;
  const char* with;
  const char* scope;
  const int32_t* index;
  int32_t n_index;
  int32_t part;
  const void* reserved[4];
} NoliParameterDef;
NoliParameterDef noli_default_parameter_def(void);
typedef struct NoliParameters NoliParameters;
NoliStatus noli_parameters_create(NoliSim* sim, const NoliParameterDef* defs, int32_t n_defs, NoliParameters** parameters);
void noli_parameters_destroy(NoliParameters** parameters);
int64_t noli_parameters_count(const NoliParameters* parameters);
int64_t noli_parameters_first(const NoliParameters* parameters, int32_t index);
void noli_parameters_values(const NoliParameters* parameters, double* values);
NoliStatus noli_parameters_apply(const NoliParameters* parameters, const double* values, NoliContext* context, NoliSim** sim);
typedef struct NoliObjectivePoint {
  int64_t step;
  int64_t n_steps;
  double time;
  const double* x;
  const double* v;
  double value;
  double* d_x;
  double* d_v;
  double* d_p;
  double* d_history;
  void* reserved[3];
} NoliObjectivePoint;
typedef NoliStatus NoliObjectiveFn(void* user, NoliSim* sim, NoliObjectivePoint* at);
typedef struct NoliObjective {
  NoliObjectiveFn* evaluate;
  void* user;
} NoliObjective;
typedef struct NoliGradientDef {
  int64_t n_steps;
  const char* mode;
  int32_t checkpoints;
  double tolerance;
  const void* reserved[4];
} NoliGradientDef;
NoliGradientDef noli_default_gradient_def(void);
typedef struct NoliGradientReport {
  double residual_error;
  double forward;
  double backward;
  int64_t recomputed;
  int64_t bytes;
  int64_t at_yield;
  double reserved[7];
} NoliGradientReport;
NoliStatus noli_sim_gradient(NoliSim* sim, const NoliParameters* parameters, const NoliObjective* objectives, int32_t n_objectives, const NoliGradientDef* def, double* value, double* gradient, NoliGradientReport* report);
typedef struct NoliGoalDef {
  const char* quantity;
  const char* of;
  const char* with;
  const int32_t* node;
  int32_t n_node;
  const char* component;
  const char* reduction;
  double exponent;
  const char* form;
  const double* target;
  int32_t n_target;
  double weight;
  const char* when;
  double t_begin;
  double t_end;
  const int32_t* element;
  int32_t n_element;
  const void* reserved[2];
} NoliGoalDef;
NoliGoalDef noli_default_goal_def(void);
typedef struct NoliGoals NoliGoals;
NoliStatus noli_goals_create(NoliSim* sim, const NoliParameters* parameters, const NoliGoalDef* defs, int32_t n_defs, NoliGoals** goals);
void noli_goals_destroy(NoliGoals** goals);
NoliObjective noli_goals_objective(NoliGoals* goals);
typedef struct NoliVariableDef {
  NoliParameterDef parameter;
  const char* control;
  int32_t cage[3];
  const double* hold_min;
  const double* hold_max;
  const double* point;
  int32_t n_point;
  double lower[3];
  double upper[3];
  double start[3];
  bool logarithmic;
  const void* reserved[4];
} NoliVariableDef;
NoliVariableDef noli_default_variable_def(void);
typedef bool NoliGoalFormulaFn(void* user, const double* goal, double* value, double* slope);
typedef struct NoliDesignFunctionDef {
  const char* name;
  const NoliGoalDef* goals;
  int32_t n_goals;
  NoliObjective custom;
  double at_most;
  double at_least;
  NoliGoalFormulaFn* formula;
  void* formula_user;
  const void* reserved[2];
} NoliDesignFunctionDef;
NoliDesignFunctionDef noli_default_design_function_def(void);
typedef struct NoliDesignDef {
  const NoliVariableDef* variables;
  int32_t n_variables;
  NoliDesignFunctionDef objective;
  const NoliDesignFunctionDef* constraints;
  int32_t n_constraints;
  double smoothness;
  NoliGradientDef gradient;
  const char* method;
  int32_t max_evaluations;
  double tolerance;
  double enough;
  double move;
  const void* reserved[4];
} NoliDesignDef;
NoliDesignDef noli_default_design_def(void);
typedef struct NoliDesign NoliDesign;
NoliStatus noli_design_create(NoliSim* sim, const NoliDesignDef* def, NoliDesign** design);
void noli_design_destroy(NoliDesign** design);
int32_t noli_design_count(const NoliDesign* design);
int32_t noli_design_function_count(const NoliDesign* design);
const char* noli_design_function_name(const NoliDesign* design, int32_t function);
void noli_design_variable_name(const NoliDesign* design, int32_t variable, char* buffer, size_t size);
void noli_design_range(const NoliDesign* design, double* start, double* lower, double* upper);
const NoliParameters* noli_design_parameters(const NoliDesign* design);
void noli_design_values(const NoliDesign* design, const double* variables, double* values);
NoliStatus noli_design_evaluate(NoliDesign* design, const double* variables, double* value, double* gradient);
NoliGradientReport noli_design_report(const NoliDesign* design);
typedef struct NoliDesignRun {
  int32_t evaluation;
  NoliStatus status;
  const double* variable;
  const double* value;
  const double* gradient;
  double violation;
  double slope;
  bool best;
  bool remembered;
  bool feasible;
  double residual_error;
  int64_t at_yield;
  const void* reserved[2];
} NoliDesignRun;
typedef bool NoliDesignWatchFn(void* user, const NoliDesignRun* run);
NoliStatus noli_design_remember(NoliDesign* design, const NoliDesignRun* run);
typedef struct NoliDesignResult {
  const char* reason;
  double objective;
  double violation;
  int32_t evaluations;
  int32_t failures;
  int32_t best;
  double reserved[8];
} NoliDesignResult;
NoliStatus noli_design_search(NoliDesign* design, NoliDesignWatchFn* watch, void* user, double* variables, NoliDesignResult* result);
double noli_point_point_distance_sqr(const double p[3], const double q[3]);
void noli_point_point_distance_sqr_gradient(const double p[3], const double q[3], double gradient[6]);
void noli_point_point_distance_sqr_hessian(const double p[3], const double q[3], double hessian[36]);
double noli_point_edge_distance_sqr(const double p[3], const double e0[3], const double e1[3]);
void noli_point_edge_distance_sqr_gradient(const double p[3], const double e0[3], const double e1[3], double gradient[9]);
void noli_point_edge_distance_sqr_hessian(const double p[3], const double e0[3], const double e1[3], double hessian[81]);
double noli_point_triangle_distance_sqr(const double p[3], const double t0[3], const double t1[3], const double t2[3]);
void noli_point_triangle_distance_sqr_gradient(const double p[3], const double t0[3], const double t1[3], const double t2[3], double gradient[12]);
void noli_point_triangle_distance_sqr_hessian(const double p[3], const double t0[3], const double t1[3], const double t2[3], double hessian[144]);
double noli_edge_edge_distance_sqr(const double ea0[3], const double ea1[3], const double eb0[3], const double eb1[3]);
void noli_edge_edge_distance_sqr_gradient(const double ea0[3], const double ea1[3], const double eb0[3], const double eb1[3], double gradient[12]);
void noli_edge_edge_distance_sqr_hessian(const double ea0[3], const double ea1[3], const double eb0[3], const double eb1[3], double hessian[144]);
void* noli_alloc(NoliContext* context, int64_t count, size_t size);
void* noli_calloc(NoliContext* context, int64_t count, size_t size);
char* noli_strdup(NoliContext* context, const char* text);
void noli_free(NoliContext* context, void* memory);
NoliStatus noli_grow(NoliContext* context, void** data, int64_t* capacity, int64_t need, size_t size);
NoliStatus noli_require_memory(NoliContext* context, int64_t bytes);
NoliStatus noli_fail(NoliContext* context, NoliStatus status, const char* format, ...) ;
NoliStatus noli_refuse_null(NoliContext* context, const char* function, const char* condition);
void noli_log(NoliContext* context, NoliLogLevel level, const char* format, ...) ;
void noli_make_printable(char* text);
const char* noli_nearest(const char* word, const char* const* words, int32_t n_words);
typedef struct NoliGcpDef {
  uint32_t size;
  double eps_target;
  double alpha;
  double beta;
  double length;
  const double* half_spaces;
  int32_t n_half_spaces;
} NoliGcpDef;
void noli_gcp_def_init(NoliGcpDef* def, size_t size);
typedef enum NoliGcpPairKind {
  NOLI_GCP_PAIR_VERTEX_VERTEX,
  NOLI_GCP_PAIR_VERTEX_EDGE,
  NOLI_GCP_PAIR_VERTEX_FACE,
  NOLI_GCP_PAIR_EDGE_EDGE,
  NOLI_GCP_PAIR_HALF_SPACE,
} NoliGcpPairKind;
typedef struct NoliGcpContact {
  NoliGcpPairKind kind;
  int32_t vertex[4];
  int32_t half_space;
  double distance;
  double reserved[2];
} NoliGcpContact;
typedef struct NoliGcpSupport {
  int64_t n_candidates;
  int64_t n_active;
  int64_t n_reduced;
  double min_eps;
  double seconds;
} NoliGcpSupport;
typedef struct NoliGcpPotential NoliGcpPotential;
NoliStatus noli_gcp_potential_create(NoliContext* context, const NoliGcpDef* def, const double* X, int32_t n_vert, const int32_t* tri, int32_t n_tri, NoliGcpPotential** potential);
NoliStatus noli_gcp_potential_create_plane( NoliContext* context, const NoliGcpDef* def, const double* X, int32_t n_vert, const int32_t* edge, int32_t n_edge, NoliGcpPotential** potential);
void noli_gcp_potential_destroy(NoliGcpPotential** potential);
NoliStatus noli_gcp_potential_update(NoliGcpPotential* potential, const double* x);
const NoliGcpContact* noli_gcp_potential_pairs(const NoliGcpPotential* potential, int64_t* n_pairs);
double noli_gcp_potential_min_distance(const NoliGcpPotential* potential);
const double* noli_gcp_potential_eps(const NoliGcpPotential* potential);
void noli_gcp_potential_support_sized(const NoliGcpPotential* potential, NoliGcpSupport* support, size_t size);
double noli_gcp_potential_value(const NoliGcpPotential* potential);
NoliStatus noli_gcp_potential_gradient(NoliGcpPotential* potential, double* gradient);
NoliStatus noli_gcp_potential_hessian(NoliGcpPotential* potential, bool projected, const NoliTriplet** triplets, int64_t* n_triplets);
typedef struct NoliRepairDef {
  bool settle;
  bool rigid;
  int32_t rounds;
  void* reserved[4];
} NoliRepairDef;
NoliRepairDef noli_default_repair_def(void);
typedef struct NoliRepairMove {
  double distance;
  double translation[3];
  double deformation;
  const double* x0;
  void* reserved[2];
} NoliRepairMove;
typedef struct NoliRepair {
  NoliRepairMove* move;
  int32_t n_bodies;
  int32_t n_moved;
  int64_t n_defects;
  double length;
  double gap;
  double* x;
  int64_t n_refused;
  void* reserved[3];
} NoliRepair;
NoliStatus noli_sim_repair(NoliContext* context, const NoliSimDef* def, const NoliRepairDef* repair_def, NoliRepair* repair);
void noli_repair_free(NoliContext* context, NoliRepair* repair);
typedef struct NoliScene NoliScene;
typedef struct NoliSceneOverride {
  const char* path;
  const char* value;
} NoliSceneOverride;
NoliStatus noli_scene_load(NoliContext* context, const char* path, const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);
NoliStatus noli_scene_parse(NoliContext* context, const char* text, const char* name, const char* directory, const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);
NoliStatus noli_scene_parse_converted( NoliContext* context, const char* text, const char* name, const char* directory, const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);
void noli_scene_destroy(NoliScene** scene);
void noli_scene_free_elements(NoliScene* scene);
const NoliSimDef* noli_scene_sim_def_sized(const NoliScene* scene, const NoliDefSizes* sizes);
const char* noli_scene_name(const NoliScene* scene);
int64_t noli_scene_step_count(const NoliScene* scene);
double noli_scene_duration(const NoliScene* scene);
typedef struct NoliSceneOutput {
  int32_t frame_interval;
  const char* frame_format;
  double checkpoint_seconds;
  int32_t checkpoint_steps;
  const char* const* fields;
  int32_t n_fields;
  const NoliProbeDef* probes;
  int32_t n_probes;
} NoliSceneOutput;
void noli_scene_output_sized(const NoliScene* scene, NoliSceneOutput* output, size_t size);
const NoliDesignDef* noli_scene_design(const NoliScene* scene);
typedef struct NoliSceneFile {
  const char* path;
  const char* where;
  uint64_t digest;
  void* reserved[2];
} NoliSceneFile;
const NoliSceneFile* noli_scene_files(const NoliScene* scene, int32_t* n_files);
NoliStatus noli_scene_json(const NoliScene* scene, char** json);
NoliStatus noli_scene_json_in(const NoliScene* scene, const char* directory, char** json);
NoliStatus noli_scene_is_same(NoliContext* context, const char* a, const char* b, bool* same);
NoliStatus noli_scene_schema(NoliContext* context, char** schema);
void noli_scene_free_text(NoliContext* context, char** text);
NoliStatus noli_output_write_vtu(NoliContext* context, NoliSim* sim, const NoliSimDef* def, const char* path);
NoliStatus noli_output_write_defects(NoliContext* context, const NoliSimDef* def, const NoliDefect* defects, int64_t n_defects, const char* path);
NoliStatus noli_output_write_scene_page(NoliContext* context, const NoliScene* scene, const char* path);
NoliStatus noli_output_write_page(NoliContext* context, const char* directory, const char* path);
typedef void NoliPageProgressFn(void* user, int64_t done, int64_t n_frames);
typedef struct NoliPageOptions {
  NoliPageProgressFn* progress;
  void* user;
} NoliPageOptions;
NoliStatus noli_output_write_page_with(NoliContext* context, const char* directory, const char* path, const NoliPageOptions* options);
NoliStatus noli_output_write_report(NoliContext* context, const char* directory, const char* path);
NoliStatus noli_output_write_text(NoliContext* context, const char* path, const char* text);
NoliStatus noli_output_write_repaired(NoliContext* context, const NoliScene* scene, const NoliRepair* repair, const char* path);
NoliStatus noli_output_write_design(NoliContext* context, const NoliScene* scene, const NoliDesign* design, const double* variables, const char* path);
NoliStatus noli_checkpoint_save(NoliContext* context, NoliSim* sim, const char* scene_json, const char* path);
NoliStatus noli_checkpoint_load(NoliContext* context, NoliSim* sim, const char* path);
NoliStatus noli_checkpoint_to_memory(NoliContext* context, NoliSim* sim, const char* scene_json, void** bytes, size_t* size);
NoliStatus noli_checkpoint_from_memory(NoliContext* context, NoliSim* sim, const void* bytes, size_t size);
typedef struct NoliCheckpointInfo {
  char version[32];
  int64_t step;
  double time;
  uint64_t hash;
  char* scene_json;
} NoliCheckpointInfo;
NoliStatus noli_checkpoint_info_sized(NoliContext* context, const char* path, NoliCheckpointInfo* info, size_t size);
void noli_checkpoint_info_free(NoliContext* context, NoliCheckpointInfo* info);
typedef enum NoliWork {
  NOLI_WORK_OTHER,
  NOLI_WORK_GRADIENT,
  NOLI_WORK_HESSIAN,
  NOLI_WORK_PATTERN,
  NOLI_WORK_ANALYSIS,
  NOLI_WORK_FACTOR,
  NOLI_WORK_SOLVE,
  NOLI_WORK_BROAD_PHASE,
  NOLI_WORK_CCD,
  NOLI_WORK_CONTACTS,
  NOLI_WORK_FRICTION,
  NOLI_WORK_ENERGY,
  NOLI_WORK_OUTPUT,
NOLI_WORKS } NoliWork;
typedef struct NoliWorkCost {
  double wall;
  double cpu;
  double parallel;
  double helpers;
} NoliWorkCost;
typedef struct NoliProfile {
  NoliWorkCost work[16];
} NoliProfile;
void noli_profile(NoliProfile* profile);
const char* noli_work_name(int32_t work);
NoliStatus noli_ranks_start(NoliRanks** ranks);
void noli_ranks_end(NoliRanks** ranks);
int32_t noli_ranks_rank(const NoliRanks* ranks);
int32_t noli_ranks_size(const NoliRanks* ranks);
typedef void (*NoliRanksLost)(void* user, NoliStatus status, const char* message);
void noli_ranks_on_loss(NoliRanks* ranks, double patience, NoliRanksLost lost, void* user);
void noli_ranks_abort(NoliRanks* ranks, int exit_status);
NoliStatus noli_ranks_agree(NoliContext* context, NoliStatus status);
NoliStatus noli_ranks_largest(NoliContext* context, int64_t* value);
typedef struct NoliRunDef {
  uint32_t size;
  const char* directory;
  const char* scene_name;
  const char* scene_json;
  const NoliSimDef* sim_def;
  int32_t frame_interval;
  const char* frame_format;
  const char* const* fields;
  int32_t n_fields;
  double checkpoint_seconds;
  int32_t checkpoint_steps;
  const NoliSceneFile* files;
  int32_t n_files;
  bool replace_unfinished;
  const NoliProbeDef* probes;
  int32_t n_probes;
} NoliRunDef;
void noli_run_def_init(NoliRunDef* def, size_t size);
const char* noli_run_frame_format(int32_t index);
const char* noli_run_frame_field(int32_t index);
const char* noli_run_frame_list(int32_t index);
typedef struct NoliRun NoliRun;
NoliStatus noli_run_open(NoliContext* context, const NoliRunDef* def, NoliSim* sim, NoliRun** run);
NoliStatus noli_run_reopen(NoliContext* context, const NoliRunDef* def, NoliSim* sim, NoliRun** run);
NoliStatus noli_run_step(NoliRun* run, NoliSim* sim);
NoliStatus noli_run_save(NoliRun* run, NoliSim* sim, bool finished, const char* failure);
void noli_run_log(NoliRun* run, NoliLogLevel level, const char* message);
bool noli_run_can_be_resumed(NoliRun* run);
int64_t noli_run_finished_steps(NoliContext* context, const char* directory);
const char* noli_run_directory(const NoliRun* run);
bool noli_run_has_other_scene(const NoliRun* run);
const char* noli_run_list_name(const NoliRun* run);
typedef struct NoliSummary {
  const char* scene;
  int32_t nodes;
  int32_t tets;
  int32_t surface_triangles;
  int32_t threads;
  int64_t steps;
  double time;
  bool finished;
  double wall;
  double solve;
  int64_t newton_total;
  int32_t newton_max;
  int64_t contacts_max;
  double min_distance;
  double peak_rss_mb;
  NoliStepTiming timing;
  int64_t n_frames;
  int64_t retries;
  int64_t divided_steps;
  double friction_ratio;
  double friction_error;
  int64_t linear_fallbacks;
  int64_t solver_fallbacks;
  const char* failure;
  double imbalance;
  int64_t blocked_steps;
  double motion_error;
  double motion_error_max;
  char blocked_by[512];
} NoliSummary;
const NoliSummary* noli_run_summary(const NoliRun* run);
void noli_run_close(NoliRun** run);
typedef struct NoliRunFrame {
  int64_t step;
  double time;
  void* reserved[2];
} NoliRunFrame;
NoliStatus noli_run_read_frames(NoliContext* context, const char* path, NoliRunFrame** frames, int64_t* n_frames);
void noli_run_free_frames(NoliContext* context, NoliRunFrame** frames);
const char* noli_run_export_suffix(int32_t index);
const char* noli_run_export_description(int32_t index);
NoliStatus noli_run_export(NoliContext* context, const char* directory, const char* path, int64_t* n_frames);
typedef void NoliPartFn(void* part_user, int32_t index);
typedef void NoliRunPartsFn(void* user, int32_t n, NoliPartFn* part, void* part_user);
typedef struct NoliHostThreads {
  NoliRunPartsFn* run;
  void* user;
  int32_t n_threads;
  int32_t reserved;
} NoliHostThreads;
NoliStatus noli_lend_threads(const NoliHostThreads* host);
NoliStatus noli_import_load(NoliContext* context, const char* path, const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);
NoliStatus noli_import_parse(NoliContext* context, const char* text, size_t size, const char* name, const char* directory, const NoliSceneOverride* overrides, int32_t n_overrides, NoliScene** scene);
