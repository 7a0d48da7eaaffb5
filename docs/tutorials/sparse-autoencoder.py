# %% [markdown]
# # A sparse autoencoder on superposed features
#
# Sparse autoencoders are to find the features of a network whose features lie in
# superposition: more of them than dimensions, each a direction. Whether they find them is
# rarely known. Here it is: the features are the variables of a compiled network, and you
# put them into too few dimensions yourself.
#
# ## The features
#
# The network accepts the flip-flop language of Liu et al. (2023) with four digits: pairs of
# an instruction and a digit, in which *read* (`r`) must give what *write* (`w`) wrote last,
# and *ignore* (`i`) means nothing. Its circuit names the variables. Take those that lie
# one-hot or are yes or no; a feature is "this variable has this value".

# %%
import random

import matplotlib.pyplot as plt
import torch

import krohn
from krohn.architectures.exports.circuit import circuit

torch.manual_seed(0)
random.seed(0)
model = krohn.compile("FFL4", 32, strict=True, keep=True)
net = model.model


def word(pairs: int) -> list[str]:
    """Instructions with digits, of which one read in ten is wrong."""
    letters, stored = ["w", random.choice("0123")], "0"
    for _ in range(pairs - 1):
        stored = letters[-1] if letters[-2] == "w" else stored
        instruction, digit = random.choice("wrii"), random.choice("0123")
        right = instruction == "r" and random.random() < 0.9
        letters += [instruction, stored if right else digit]
    return letters


_, cache = net.run_with_cache([word(16) for _ in range(400)])
stream = cache[[name for name in net.hook_places() if "stream" in name][-1]]
stream = stream[:, 1:].flatten(0, 1)

features, names = [], []
for v in circuit(model.file)["variables"]:
    values = v["domain"] if v["code"] == "one-hot" else v["domain"][1:2]
    if v["code"] != "one-hot" and len(v["domain"]) != 2:
        continue
    for value, dimension in zip(values, range(*v["dims"]), strict=False):
        column = stream[:, dimension] > 0.5
        seen = any(torch.equal(column, each) for each in features)
        if 0.003 < column.float().mean() < 0.3 and not seen:
            features.append(column)
            names.append(f"{v['variable'].removesuffix('.one-hot')} = {value}")
truth = torch.stack(features, dim=1).float()
print(f"{len(names)} features, {truth.sum(1).mean():.1f} at once on average")
print("\n".join(names))

# %% [markdown]
# Features that are always the same are one feature here. Values that are seen on more than
# three tenths of all positions are left out, since they are not sparse.
#
# ## Superposition
#
# Each feature gets a random direction in a space with two thirds of the dimensions. In the
# network itself every variable has dimensions of its own.

# %%
dimensions = 2 * len(names) // 3
directions = torch.nn.functional.normalize(torch.randn(len(names), dimensions), dim=1)
hidden = truth @ directions
overlap = (directions @ directions.T).fill_diagonal_(0).abs()
print(f"{dimensions} dimensions; two features overlap by up to {overlap.max():.2f}")

# %% [markdown]
# ## The autoencoder
#
# One hidden layer of ReLUs, decoder rows of length 1, and a price on what is active
# (Bricken et al. 2023).


# %%
def autoencoder(
    x: torch.Tensor, latents: int, price: float, steps: int
) -> torch.Tensor:
    """The directions of the latents, (latents, dimensions)."""
    decoder = torch.nn.functional.normalize(torch.randn(latents, x.shape[1]), dim=1)
    encoder, bias = decoder.T.clone(), torch.zeros(latents)
    weights = [each.requires_grad_() for each in (decoder, encoder, bias)]
    optimiser = torch.optim.Adam(weights, lr=0.01)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 0.01 * (1 - step / steps)
        batch = x[torch.randint(len(x), (256,))]
        rows = torch.nn.functional.normalize(decoder, dim=1)
        active = torch.relu(batch @ encoder + bias)
        loss = (active @ rows - batch).square().sum(1) + price * active.sum(1)
        optimiser.zero_grad()
        loss.mean().backward()
        optimiser.step()
    return torch.nn.functional.normalize(decoder.detach(), dim=1)


found = autoencoder(hidden, 2 * len(names), price=0.1, steps=1500)

# %% [markdown]
# ## Held against the truth
#
# For each feature, the latent whose direction is nearest, by the cosine. Beside it what
# principal components find, and random directions: with so few dimensions, some random
# direction is near everything.

# %%
_, _, principal = torch.linalg.svd(hidden - hidden.mean(0), full_matrices=False)
chance = torch.nn.functional.normalize(torch.randn(2 * len(names), dimensions), dim=1)
nearest = {}
for name, rows in (("autoencoder", found), ("PCA", principal), ("random", chance)):
    cosine = (directions @ rows.T).abs()
    nearest[name] = cosine.max(1).values
    above = int((nearest[name] > 0.9).sum())
    print(
        f"{name:12} mean {nearest[name].mean():.2f}, above 0.9: {above} of {len(names)}"
    )

# %%
cosine = directions @ found.T
order = cosine.argmax(1)
rest = [i for i in range(len(found)) if i not in order]
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 6), layout="constrained", width_ratios=(3, 1), sharey=True
)
image = left.imshow(
    cosine[:, [*dict.fromkeys(order.tolist()), *rest]],
    cmap="RdBu",
    vmin=-1,
    vmax=1,
    aspect="auto",
)
left.set_yticks(range(len(names)), names)
left.set_xlabel("latent, in the order of the features")
left.set_title("Cosine of each feature and each latent")
figure.colorbar(image, ax=left, shrink=0.6)
for name, marker in (("autoencoder", "o"), ("PCA", "s"), ("random", "x")):
    right.plot(nearest[name], range(len(names)), marker, label=name)
right.set_xlabel("nearest direction")
right.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
plt.show()
assert nearest["autoencoder"].mean() > nearest["random"].mean() + 0.1

# %% [markdown]
# ## Which are missed, and why
#
# For each feature that no latent matches, the feature that is seen with it most often.

# %%
together = truth.T @ truth / truth.sum(0)[:, None]
together.fill_diagonal_(0)
for i in (nearest["autoencoder"] < 0.8).nonzero().flatten().tolist():
    other = int(together[i].argmax())
    print(
        f"{names[i]:12} cosine {nearest['autoencoder'][i]:.2f}; "
        f"{together[i, other]:4.0%} of the time with {names[other]}"
    )

# %% [markdown]
# Most of the features that are missed never come without another one. Then one latent for
# both costs less than two, and its decoder row is a sum. Here such pairs are no surprise:
# the circuit says which variable is computed from which.
#
# Try another `price`, more dimensions, or your own method; [the
# workbench](../instruments/workbench.md) has more networks.
