#!/usr/bin/env python3
"""Reads the files of test_vtu back with meshio and compares every value. Exit status 77: skipped."""
import sys

try:
    import meshio
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error} (install python3-meshio)")
    sys.exit(77)


def equal(name, got, want, tolerance=0.0):
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape, f"{name}: shape {got.shape}, want {want.shape}"
    assert got.size > 0, f"{name}: empty"
    worst = np.max(np.abs(got - want) - tolerance * np.abs(want))
    assert worst <= 0.0, f"{name}: off by {worst}"


def read_large():
    mesh = meshio.read("vtu_large.vtu")
    i = np.arange(50000)
    equal("points", mesh.points, np.stack([i / 3.0, -i / 7.0, i * 1e-9], axis=1))
    equal("half", mesh.point_data["half"], i * 0.5)
    assert [block.type for block in mesh.cells] == ["vertex"]
    equal("cells", mesh.cells[0].data[:, 0], i[::-1])
    equal("vertex", mesh.cell_data["vertex"][0], i[::-1])


def read_mixed():
    mesh = meshio.read("vtu_mixed.vtu")
    assert [block.type for block in mesh.cells] == ["tetra", "triangle", "line", "vertex"]
    cells = [block.data[0].tolist() for block in mesh.cells]
    assert cells == [[0, 1, 2, 3], [0, 1, 2], [1, 3], [2]], cells
    numbers = [int(block[0]) for block in mesh.cell_data["number"]]
    assert numbers == [1 << 40, -1, 0, 7], numbers
    equal("time", mesh.field_data["TimeValue"], [2.5])


def read_frame():
    mesh = meshio.read("vtu_frame.vtu")
    rows = [line.split() for line in open("vtu_frame.txt")]
    n_vert, n_tet, time = int(rows[0][0]), int(rows[0][1]), float(rows[0][2])
    points = np.array(rows[1 : 1 + 3 * n_vert], dtype=float)
    tets = np.array(rows[1 + 3 * n_vert :], dtype=float)
    assert tets.shape == (n_tet, 5)
    equal("time", mesh.field_data["TimeValue"], [time])
    equal("points", mesh.points, points[:, 0].reshape(-1, 3))
    names = ["displacement", "velocity", "contact_force", "friction_force"]
    for column, name in enumerate(names, start=1):
        equal(name, mesh.point_data[name], points[:, column].reshape(-1, 3), 1e-7)
    assert mesh.points.dtype == np.float64
    assert sorted(mesh.point_data) == sorted(names + ["body"]), sorted(mesh.point_data)
    equal("tets", mesh.cells[0].data, tets[:, :4])
    equal("von_mises", mesh.cell_data["von_mises"][0], tets[:, 4], 1e-7)
    equal("body", mesh.point_data["body"], np.zeros(n_vert))
    assert sorted(mesh.cell_data) == ["body", "tag", "von_mises"]


def polynomial(order, x, y, z):
    return sum((x + 0.3) ** d - 0.7 * (y - 0.2) ** d + 0.4 * (z + 0.1 * x) ** d for d in range(1, order + 1))


def read_lagrange(Reader):
    """Cells of orders 1 to 4: the polynomial in the file is what VTK interpolates everywhere."""
    random = np.random.default_rng(1)
    for order in range(1, 5):
        reader = Reader()
        reader.SetFileName(f"vtu_lagrange_{order}.vtu")
        reader.Update()
        grid = reader.GetOutput()
        values = grid.GetPointData().GetArray("polynomial")
        assert reader.GetErrorCode() == 0 and grid.GetNumberOfCells() > 20
        n_local, worst = (order + 1) * (order + 2) * (order + 3) // 6, 0.0
        for t in range(grid.GetNumberOfCells()):
            cell = grid.GetCell(t)
            assert cell.GetClassName() == "vtkLagrangeTetra" and cell.GetNumberOfPoints() == n_local
            for xi in random.dirichlet([1, 1, 1, 1], size=3)[:, 1:]:
                from vtkmodules.vtkCommonCore import mutable
                x, weights = [0.0] * 3, [0.0] * n_local
                cell.EvaluateLocation(mutable(0), xi, x, weights)
                ids = [cell.GetPointId(k) for k in range(n_local)]
                got = sum(w * values.GetTuple1(i) for w, i in zip(weights, ids))
                worst = np.maximum(worst, abs(got - polynomial(order, *x)))
        assert worst < 1e-12, f"order {order}: off by {worst}"
        print(f"Lagrange tetrahedra of order {order}: VTK agrees to {worst:.1e}")


def read_with_vtk():
    try:
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
    except ImportError:
        print("python3-vtk9 is not there: read with meshio only")
        return
    for name, n_vert, n_cells in [("large", 50000, 50000), ("mixed", 4, 4), ("empty", 0, 0)]:
        reader = vtkXMLUnstructuredGridReader()
        reader.SetFileName(f"vtu_{name}.vtu")
        reader.Update()
        grid = reader.GetOutput()
        got = (grid.GetNumberOfPoints(), grid.GetNumberOfCells())
        assert reader.GetErrorCode() == 0 and got == (n_vert, n_cells), f"{name}: {got}"
    read_lagrange(vtkXMLUnstructuredGridReader)


read_large()
read_mixed()
read_frame()
read_with_vtk()
print("all values agree")
