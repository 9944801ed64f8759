"""A run of Noli as a function of PyTorch: values forward, the adjoint of the run backward. A network could stand before or behind it;
here Adam finds the friction with which a block was thrown, examples/design/friction.json. Needs PyTorch (python3-torch)."""
import os

import numpy as np
import torch

import noli

SCENE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "design", "friction.json")


class Run(torch.autograd.Function):
    """The functions of a design, the objective first, as a tensor that depends on its variables."""

    @staticmethod
    def forward(ctx, x, design):
        values, gradients = design.evaluate(x.detach().cpu().numpy().astype(np.float64), gradient=x.requires_grad)
        ctx.gradients = None if gradients is None else torch.from_numpy(gradients)
        return torch.from_numpy(values)

    @staticmethod
    def backward(ctx, weights):
        return weights.double() @ ctx.gradients, None


def slope_error(design, x, step=1e-5):
    """The gradient of PyTorch beside a central difference of two runs, relative."""
    at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    Run.apply(at, design)[0].backward()
    above, below = (design.evaluate(np.add(x, d), gradient=False)[0][0] for d in (step, -step))
    difference = (above - below) / (2 * step)
    return abs(at.grad[0].item() - difference) / abs(difference)


def main(iterations=60):
    """The friction that is found, and the relative error of the gradient at the start."""
    design = noli.Design(SCENE)
    error = slope_error(design, design.start)
    x = torch.tensor(design.start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.02)
    for _ in range(iterations):
        optimizer.zero_grad()
        loss = Run.apply(x, design)[0]
        loss.backward()
        optimizer.step()
    print(f"friction {x.item():.4f} after {iterations} runs, loss {loss.item():.2g}; gradient beside differences {error:.1e}")
    return x.item(), error


if __name__ == "__main__":
    main()
