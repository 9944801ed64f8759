#include "figures.h"

#include <stddef.h>
#include <string.h>

// clang-format off
static const PaperFigures paper[] = {
    // fig. 23; steps follow from the lengths of the scenes (the arch's are 0.01 s in the paper, 0.005 s in
    // the scene; the roller's figures are those of 0.5 MPa)
    {"2_matKnives", 150, 1.4, 5.5, 147, 4, 291, 472, 0, 0},
    {"2_spherePoints", 200, 2.8, 6.6, 229, 4, 126, 182, 0, 0},
    {"videoExamples/chain100", 250, 4, 2.4, 450, 4, 40000, 53000, 0, 0},
    {"17_pinCushionBall", 200, 3.7, 9.5, 233, 4, 317, 496, 0, 0},
    {"19_golfBall", 200, 12.1, 9.3, 861, 4, 1000, 4000, 0, 0},
    {"13_dolphinFunnel", 800, 27.9, 39.7, 357, 4, 7000, 31000, 0, 0},
    {"8_rollerBall", 1000, 63.3, 58.6, 215, 4, 2300, 5600, 0, 0},
    {"5_hitCardHouse", 200, 10.0, 16.6, 186, 4, 7000, 13000, 0, 0},
    {"7_masonryArch", 2000, 0.05, 5.7, 54, 4, 101, 118, 0, 0},
    {"15_trashComp_shapes", 250, 61.9, 29.4, 638, 8, 6000, 132000, 0, 0},
    {"videoExamples/armaRoller_stickSlip", 400, 346, 66.8, 3651, 4, 8000, 33000, 0, 0},
    {"14_matTwist", 2500, 776.2, 34.5, 4546, 8, 264000, 439000, 0, 0},
    {"4_rodsTwist", 4000, 141.5, 14.1, 2638, 8, 243000, 498000, 0, 0},
    {"1_squeezeOut", 1500, 252, 42.5, 1700, 8, 37000, 277000, 0, 0},
    {"22_squishyBall", 2000, 328.3, 12.2, 19463, 8, 3600, 105000, 0, 0},
    // table 1: 6 s each
    {"tb1_diffDt/rodsTwist_E1e4_dt0.002", 3000, 0.29, 2.12, 0, 4, 137, 430, 862, 6351},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.005", 1200, 0.36, 2.37, 0, 4, 194, 584, 435, 2843},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.01", 600, 0.38, 2.65, 0, 4, 269, 707, 229, 1591},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.025", 240, 0.38, 2.69, 0, 4, 435, 1000, 91, 645},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.05", 120, 0.46, 3.06, 0, 4, 551, 1200, 56, 368},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.1", 60, 0.73, 4.75, 0, 4, 597, 1300, 44, 285},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.2", 30, 1.79, 14.37, 0, 4, 607, 1200, 54, 431},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.5", 12, 11.39, 100.58, 0, 4, 653, 1400, 137, 1207},
    {"tb1_diffDt/rodsTwist_E1e4_dt1", 6, 18.41, 188.17, 0, 4, 708, 1300, 110, 1129},
    {"tb1_diffDt/rodsTwist_E1e4_dt2", 3, 52.02, 522.00, 0, 4, 843, 1300, 156, 1566},
};

static const ReferenceFigures reference[] = {
    {"10_cubeStack", 200, 0.0035, 3.06, 19, 25, 92, 13},
    {"10_tetTet", 200, 0.0004, 2.33, 12, 5, 6, 12},
    {"11_erleben/cubeInternalEdgesCO", 2000, 0.0008, 2.02, 7, 18, 34, 12},
    {"11_erleben/spikePlaneCO", 2000, 0.0003, 2.01, 5, 0, 1, 12},
    {"11_erleben/spikeSpikeCO", 2000, 0.0002, 2.02, 7, 0, 4, 12},
    {"11_erleben/spikeWedgeCO", 2000, 0.0003, 2.02, 5, 0, 3, 12},
    {"11_erleben/wedgePlaneCO", 2000, 0.0004, 2.00, 2, 0, 0, 12},
    {"11_erleben/wedgeWedgoCO", 2000, 0.0004, 2.03, 10, 0, 22, 12},
    {"otherExamples/typical/2matsFall", 6, 9.7343, 6.83, 17, 93, 199, 137},
    {"13_dolphinFunnel", 19, 2.9886, 5.32, 19, 157, 634, 239},
    {"2_matKnives", 7, 7.3134, 21.86, 52, 135, 304, 90},
    {"2_spherePoints", 6, 9.8024, 21.83, 48, 35, 78, 195},
    {"17_pinCushionBall", 8, 6.6859, 15.88, 59, 62, 104, 198},
    {"8_rollerBall", 15, 3.4720, 4.53, 34, 66, 143, 221},
    {"4_rodsTwist", 9, 11.3783, 3.00, 3, 0, 0, 1096},
    {"21_scalability/mat100x100_twist", 8, 6.7887, 5.50, 6, 0, 0, 446},
    {"21_scalability/mat40x40_twist", 48, 1.3225, 5.25, 15, 53, 272, 86},
    {"5_hitCardHouse", 27, 2.3519, 4.04, 22, 530, 1014, 121},
    {"7_masonryArch", 24, 1.1636, 36.42, 130, 38, 93, 14},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.025", 185, 0.3627, 2.59, 5, 321, 765, 67},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.1", 60, 0.6896, 4.65, 10, 654, 1278, 61},
};
// clang-format on

const PaperFigures* paper_figures(const char* scene) {
  for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
    if (strcmp(paper[i].scene, scene) == 0) {
      return &paper[i];
    }
  }
  return NULL;
}

const ReferenceFigures* reference_figures(const char* scene) {
  for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
    if (strcmp(reference[i].scene, scene) == 0) {
      return &reference[i];
    }
  }
  return NULL;
}
