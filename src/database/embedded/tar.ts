// The little of the tar format (POSIX ustar) that a data directory needs: short names, no links, no times.

/** The block before an entry. A name that ends in "/" is a folder. */
export function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`too long for the template: ${name}`)
  const folder = name.endsWith("/")
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(octal(folder ? 0o700 : 0o600, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(size, 12), 124)
  block.write(octal(0, 12), 136)
  block.write(" ".repeat(8), 148)
  block.write(folder ? "5" : "0", 156)
  block.write("ustar\u000000", 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}

export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

const BLOCK = 512

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`
