"""The shapes of well-known networks, each a function that gives a float network with seeded weights."""

from tests.networks.layers import Network


def ds_cnn() -> Network:
    """Keyword spotting: DS-CNN over 49 frames of 10 features, 12 classes."""
    net = Network(1)
    value = net.conv(net.input(49, 10, 1), 64, (10, 4), stride=(2, 2), activation="relu")
    for _ in range(4):
        value = net.depthwise(value, activation="relu")
        value = net.conv(value, 64, activation="relu")
    value = net.reshape(net.average(value), 64)
    return net.output(net.softmax(net.dense(value, 12, gain=2.0)))


MOBILENET = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *((128, 1),) * 5, (256, 2), (256, 1))
"""Channels and stride of each pair of MobileNet V1 at a quarter of its width."""


def mobilenet_v1(dead_percent: int = 0) -> Network:
    """Visual wake words: MobileNet V1 at a quarter of its width, 96 x 96 x 3.

    `dead_percent`: of the channels of its layers with 128 channels and more.
    """
    net = Network(2)
    value = net.conv(net.input(96, 96, 3, low=0.0), 8, (3, 3), stride=(2, 2), activation="relu")
    for channels, stride in MOBILENET:
        value = net.depthwise(value, stride=(stride, stride), activation="relu")
        dead = channels * dead_percent // 100 if channels >= 128 else 0
        value = net.conv(value, channels, dead=dead, activation="relu")
    value = net.reshape(net.average(value), 256)
    return net.output(net.softmax(net.dense(value, 2, gain=2.0)))


def person_detect() -> Network:
    """MobileNet V1 as the person detector has it: grey, relu6, a 1x1 convolution at the end."""
    net = Network(3)
    value = net.depthwise(net.input(96, 96, 1), multiplier=8, stride=(2, 2), activation="relu6")
    for channels, stride in MOBILENET:
        value = net.depthwise(value, stride=(stride, stride), activation="relu6")
        value = net.conv(value, channels, activation="relu6")
    value = net.reshape(net.conv(net.average(value), 2), 2)
    return net.output(net.softmax(value))


def _residual(net: Network, value: int, channels: int, stride: int) -> int:
    steps = (stride, stride)
    branch = net.conv(value, channels, (3, 3), stride=steps, activation="relu")
    branch = net.conv(branch, channels, (3, 3))
    if stride > 1:
        value = net.conv(value, channels, stride=steps)
    return net.add(value, branch, activation="relu")


def resnet8(width: int = 16) -> Network:
    """Image classification: ResNet8 over 32 x 32 x 3, 10 classes."""
    net = Network(4, width)
    value = net.conv(net.input(32, 32, 3, low=0.0, high=255.0), width, (3, 3), activation="relu")
    for channels, stride in ((width, 1), (2 * width, 2), (4 * width, 2)):
        value = _residual(net, value, channels, stride)
    value = net.reshape(net.average(value), 4 * width)
    return net.output(net.softmax(net.dense(value, 10, gain=2.0)))


def residual_pair() -> Network:
    """Two residual blocks over 16 x 16 x 3, for searches that make many plans."""
    net = Network(70)
    value = net.conv(net.input(16, 16, 3, low=0.0, high=255.0), 16, (3, 3), activation="relu")
    for channels, stride in ((16, 1), (32, 2)):
        value = _residual(net, value, channels, stride)
    return net.output(net.dense(net.reshape(net.average(value), 32), 10))


def resnet8_wide() -> Network:
    """ResNet8 with 40 instead of 16 channels."""
    return resnet8(40)


def autoencoder() -> Network:
    """Anomaly detection: ten FULLY_CONNECTED, 640 numbers in and out."""
    net = Network(5)
    value = net.input(640, low=-90.0, high=10.0)
    for units in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        value = net.dense(value, units, "relu")
    return net.output(net.dense(value, 640))


def dense_chain(dead: int = 0) -> Network:
    """Three FULLY_CONNECTED on one number: the smallest network of use."""
    net = Network(69)
    value = net.dense(net.dense(net.input(1, low=0.0, high=6.25), 16, "relu", dead=dead), 16, "relu")
    return net.output(net.dense(value, 1))


def dense_chain_pruned() -> Network:
    """`dense_chain` with four dead units of its first layer."""
    return dense_chain(4)


def mobilenet_v1_pruned() -> Network:
    """`mobilenet_v1`, half of its wide layers dead."""
    return mobilenet_v1(50)


def speech() -> Network:
    """Two words by one DEPTHWISE_CONV_2D with 8 results a channel, over 49 frames of 40 features."""
    net = Network(7)
    value = net.reshape(net.input(1960, low=0.0, high=26.0), 49, 40, 1)
    value = net.depthwise(value, (10, 8), 8, stride=(2, 2), activation="relu")
    return net.output(net.softmax(net.dense(value, 4, gain=2.0)))


def two_images() -> Network:
    """ADD of two inputs of 128 x 128."""
    net = Network(8)
    return net.output(net.add(net.input(128, 128, 1, low=-5.0, high=5.0), net.input(128, 128, 1)))


def separable_1d() -> Network:
    """A wake word over 30 frames: separable convolutions along time, without padding."""
    net = Network(9)
    value = net.input(30, 1, 40, low=0.0)
    for taps, channels in ((3, 128), (5, 128), (10, 128), (15, 32)):
        value = net.depthwise(value, (taps, 1), padding="VALID")
        value = net.conv(value, channels, padding="VALID", activation="relu")
    return net.output(net.softmax(net.dense(net.reshape(value, 32), 3, gain=2.0)))


INVERTED = (
    (8, 16, 3, 1), (16, 48, 3, 2), (16, 48, 3, 1), (16, 48, 3, 1), (24, 48, 7, 2),
    (24, 144, 3, 1), (24, 120, 5, 1), (40, 144, 7, 2), (40, 240, 7, 1), (48, 240, 3, 1),
    (48, 192, 3, 1), (96, 240, 5, 2), (96, 480, 3, 1), (96, 384, 3, 1), (160, 288, 7, 1),
)  # fmt: skip
"""Channels, channels within, window and stride of each inverted residual."""


def mobilenet_v2() -> Network:
    """Inverted residuals with several windows, and padding as an operator of its own, over 80 x 80 x 3."""
    net = Network(10)
    value = net.conv(
        net.pad(net.input(80, 80, 3), 1, 1), 16, (3, 3), stride=(2, 2), padding="VALID", activation="relu6"
    )
    for channels, within, window, stride in INVERTED:
        branch = value
        if within != 16:
            branch = net.conv(branch, within, padding="VALID", activation="relu6")
        if stride == 2:
            branch = net.pad(branch, window // 2, window // 2)
        branch = net.depthwise(
            branch,
            (window, window),
            stride=(stride, stride),
            padding="VALID" if stride == 2 else "SAME",
            activation="relu6",
        )
        branch = net.conv(branch, channels, padding="VALID")
        joins = stride == 1 and net.shape(value)[3] == channels
        value = net.add(branch, value) if joins else branch
    return net.output(net.dense(net.average(value), 2, gain=2.0))
