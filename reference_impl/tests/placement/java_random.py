"""java.util.Random, so that a seed means the same draws here and in a jar.

The generator is the one java.util.Random's specification fixes (48-bit linear congruential);
`nextInt(bound)` is the part that placement needs.
"""

MASK = (1 << 48) - 1


class JavaRandom:
    def __init__(self, seed: int) -> None:
        self.state = (seed ^ 0x5DEECE66D) & MASK

    def _bits(self, count: int) -> int:
        self.state = (self.state * 0x5DEECE66D + 0xB) & MASK
        signed = self.state >> (48 - count)
        return signed - (1 << count) if count == 32 and signed >> 31 else signed

    def randrange(self, stop: int) -> int:
        bits = self._bits(31)
        if stop & (stop - 1) == 0:
            return (stop * bits) >> 31
        while bits - bits % stop + stop - 1 >= 1 << 31:
            bits = self._bits(31)
        return bits % stop
