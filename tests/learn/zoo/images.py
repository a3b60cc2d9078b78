"""Models of images, series and volumes: convolutions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.learn.zoo.made import Built, Model, ids, kept, reals
from tests.learn.zoo.tables import still

__all__ = ["IMAGES"]

image = kept("images")


def pooled(*layers: nn.Module, wide: int) -> nn.Module:
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(wide, 3)
    )


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(4, 6, 3),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(6, 3),
    )


def vgg(norm: Any) -> nn.Module:
    return pooled(
        nn.Conv2d(2, 4, 3, padding=1),
        norm(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3, padding=1, bias=False),
        norm(8),
        nn.ReLU(inplace=True),
        wide=8,
    )


def block(m: Any, x: Tensor) -> Any:
    found = functional.relu(m.norm1(m.conv1(x)))
    return functional.relu_(m.norm2(m.conv2(found)) + m.short(x))


def resnet(norm: Any) -> nn.Module:
    parts = Built(
        block,
        conv1=nn.Conv2d(4, 8, 3, stride=2, padding=1, bias=False),
        norm1=norm(8),
        conv2=nn.Conv2d(8, 8, 3, padding=1, bias=False),
        norm2=norm(8),
        short=nn.Sequential(nn.Conv2d(4, 8, 1, stride=2, bias=False), norm(8)),
    )
    return pooled(nn.Conv2d(2, 4, 3, padding=1), parts, wide=8)


def groups(channels: int) -> nn.Module:
    return nn.GroupNorm(2, channels)


def squeezed(m: Any, x: Tensor) -> Any:
    return x * torch.sigmoid(m.up(torch.relu(m.down(x.mean((2, 3), keepdim=True)))))


def squeeze(channels: int) -> nn.Module:
    return Built(squeezed, down=nn.Conv2d(channels, 2, 1), up=nn.Conv2d(2, channels, 1))


def mobile() -> nn.Module:
    return pooled(
        nn.Conv2d(2, 8, 1),
        nn.Hardswish(),
        nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False),
        groups(8),
        nn.ReLU6(),
        squeeze(8),
        nn.Conv2d(8, 6, 1),
        nn.SiLU(),
        wide=6,
    )


def unet(m: Any, x: Tensor) -> Any:
    high = torch.relu(m.down1(x))
    low = torch.relu(m.down2(functional.max_pool2d(high, 2)))
    return m.out(torch.relu(m.mix(torch.cat([high, m.up(low)], 1))))


def unet_model() -> nn.Module:
    return Built(
        unet,
        down1=nn.Conv2d(2, 4, 3, padding=1),
        down2=nn.Conv2d(4, 6, 3, padding=1),
        up=nn.ConvTranspose2d(6, 4, 2, stride=2),
        mix=nn.Conv2d(8, 4, 3, padding=1),
        out=nn.Conv2d(4, 3, 1),
    )


def scaled(m: Any, x: Tensor) -> Any:
    """A ConvNeXt block: channels last, and a scale for each of them."""
    found = m.norm(m.deep(x).permute(0, 2, 3, 1))
    found = m.scale * m.two(functional.gelu(m.one(found)))
    found = found.permute(0, 3, 1, 2)
    keep = 0.8 if m.training else 1.0
    if m.training:  # stochastic depth: some rows skip the block
        found = found * torch.rand(x.shape[0], 1, 1, 1).lt(keep) / keep
    return x + found


def convnext() -> nn.Module:
    parts = Built(
        scaled,
        deep=nn.Conv2d(4, 4, 7, padding=3, groups=4),
        norm=nn.LayerNorm(4),
        one=nn.Linear(4, 8),
        two=nn.Linear(8, 4),
        scale=nn.Parameter(torch.full((4,), 0.1)),
    )
    return pooled(nn.Conv2d(2, 4, 2, stride=2), parts, wide=4)


def standardized(m: Any, x: Tensor) -> Any:
    weight = m.conv.weight
    spread, mean = torch.var_mean(weight, (1, 2, 3), keepdim=True)
    weight = (weight - mean) * torch.rsqrt(spread + 1e-5)
    return m.norm(functional.conv2d(x, weight, m.conv.bias, padding=1))


def standard_model() -> nn.Module:
    parts = Built(standardized, conv=nn.Conv2d(2, 4, 3), norm=groups(4))
    return pooled(parts, nn.ReLU(), wide=4)


def moved(m: Any, x: Tensor) -> Any:
    """A spatial transformer."""
    where = m.where(x).view(-1, 2, 3)
    grid = functional.affine_grid(where, list(x.shape), align_corners=False)
    return m.out(functional.grid_sample(x, grid, align_corners=False).flatten(1))


def moved_model() -> nn.Module:
    line = nn.Linear(128, 6)
    nn.init.zeros_(line.weight)
    with torch.no_grad():
        line.bias.copy_(torch.tensor([0.9, 0.1, 0.05, -0.1, 1.1, 0.02]))
    where = nn.Sequential(nn.Flatten(), line)
    return Built(moved, where=where, out=nn.Linear(128, 3))


def dilated(m: Any, x: Tensor) -> Any:
    """WaveNet: causal, dilated, gated, with skips."""
    seen = m.start(x)
    total = torch.zeros_like(seen)
    for place, one in enumerate(m.layers):
        late = functional.pad(seen, (2**place, 0))
        left, right = one(late).chunk(2, 1)
        found = torch.tanh(left) * torch.sigmoid(right)
        total, seen = total + found, seen + found
    return m.out(torch.relu(total))


def dilated_model() -> nn.Module:
    return Built(
        dilated,
        start=nn.Conv1d(2, 4, 1),
        layers=nn.ModuleList(nn.Conv1d(4, 8, 2, dilation=2**i) for i in range(3)),
        out=nn.Conv1d(4, 3, 1),
    )


def sentences(m: Any, x: Tensor) -> Any:
    seen = m.words(x).transpose(1, 2)
    return m.out(m.drop(torch.cat([torch.relu(c(seen)).amax(-1) for c in m.convs], 1)))


def sentence_model() -> nn.Module:
    return Built(
        sentences,
        words=nn.Embedding(11, 6, padding_idx=0),
        convs=nn.ModuleList(nn.Conv1d(6, 4, k) for k in (2, 3, 4)),
        drop=nn.Dropout(0.5),
        out=nn.Linear(12, 3),
    )


def mixer(m: Any, x: Tensor) -> Any:
    seen = m.patches(x).flatten(2).transpose(1, 2)
    seen = seen + m.across(m.norm1(seen).transpose(1, 2)).transpose(1, 2)
    return m.out((seen + m.within(m.norm2(seen))).mean(1))


def mixer_model() -> nn.Module:
    return Built(
        mixer,
        patches=nn.Conv2d(2, 6, 4, stride=4),
        norm1=nn.LayerNorm(6),
        across=nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4)),
        norm2=nn.LayerNorm(6),
        within=nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6)),
        out=nn.Linear(6, 3),
    )


def bytes_of(rows: int) -> Tensor:
    return torch.randint(0, 256, (rows, 2, 8, 8), dtype=torch.uint8)


pictures = reals(2, 8, 8)
IMAGES: tuple[Model, ...] = (
    image(
        "VGG with InstanceNorm",
        make=lambda: vgg(lambda size: nn.InstanceNorm2d(size, affine=True)),
        inputs=pictures,
    ),
    image("ResNet with GroupNorm", make=lambda: resnet(groups), inputs=pictures),
    image(
        "ResNet with BatchNorm in eval mode",
        make=lambda: still(resnet(nn.BatchNorm2d)),
        inputs=pictures,
    ),
    image("MobileNet with squeeze and excitation", make=mobile, inputs=pictures),
    image("ConvNeXt with stochastic depth", make=convnext, inputs=pictures, draws=True),
    image("MLP-Mixer", make=mixer_model, inputs=pictures),
    image("U-Net", make=unet_model, inputs=pictures, targets=ids(8, 8, size=3)),
    image(
        "Convolutional autoencoder",
        make=lambda: nn.Sequential(
            nn.Conv2d(2, 4, 3, 2, 1),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(4, 2, 3, 2, 1, output_padding=1),
        ),
        inputs=pictures,
        targets=pictures,
        loss=functional.mse_loss,
    ),
    image(
        "AlexNet with local response norm and dropout",
        make=lambda: nn.Sequential(
            nn.Conv2d(2, 6, 3),
            nn.ReLU(),
            nn.LocalResponseNorm(3),
            nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.5),
            nn.Linear(24, 3),
        ),
        inputs=pictures,
        draws=True,
    ),
    image("Standardized weights", make=standard_model, inputs=pictures),
    image(
        "Spatial transformer",
        make=moved_model,
        inputs=pictures,
    ),
    image(
        "Images of bytes",
        make=lambda: Built(lambda m, x: m.body(x.float() / 255), body=lenet()),
        inputs=bytes_of,
    ),
    image("WaveNet", make=dilated_model, inputs=reals(2, 12), targets=ids(12, size=3)),
    image("Convolutions over text", make=sentence_model, inputs=ids(9), draws=True),
    image(
        "Convolutions over volumes",
        make=lambda: nn.Sequential(
            nn.Conv3d(1, 4, 3, padding=1),
            nn.GroupNorm(2, 4),
            nn.ReLU(),
            nn.MaxPool3d(2),
            nn.AdaptiveAvgPool3d(1),
            nn.Flatten(),
            nn.Linear(4, 3),
        ),
        inputs=reals(1, 4, 6, 6),
    ),
)
