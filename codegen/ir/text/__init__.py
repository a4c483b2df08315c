"""The text form of a module: `print_module` writes it, `parse_module` reads it back.

    module file="digits.tflite" format="tflite"
    const $c3: int8[8,3,3,1] q(0.1, 0.2; 0, 0; axis 0) align 1 origin "conv/w" = base64 "..."
    fn main(%image: int8[1,8,8,1] q(0.5; -128)) {
      %conv0: int8[1,8,8,8] q(0.05; -128) = CONV_2D(%image, $c3: ..) stride=(1, 1) at (0, "CONV_2D", "")
    } -> (%conv0)

State follows the results: `state (1, 0, "AAA=")`, positions of parameter and result, first bytes. A device is
written `@(target, id, scope)`, `none` for a free part. Floats are written so that they read back to the same
value. A function that is an attribute (one iteration of a WHILE) is its text as a string.

Open sizes stand behind the function's name; extents and attributes that follow from them are formulas:

    fn main<T in 10..200>(%frames: int8[1,T,1,8] q(0.05; -3)) {
      %conv0: int8[1,(T + 1)/2,1,16] q(0.05; -3) = CONV_2D(%frames, ..) padding=(table(1, 0)[..], 1, 0, 0) ..

Sizes that follow from others in a way that has no formula of symbols alone have a name there as well:
`area in 25..144 = conv0_dim1*conv0_dim2 of "axis 1 of flat"`. A table is written with its values.
"""

from codegen.ir.text.parsing import LITERALS, parse_module
from codegen.ir.text.printing import print_module

__all__ = ["LITERALS", "parse_module", "print_module"]
