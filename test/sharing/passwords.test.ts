import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { hashPassword, isPassword } from "../../src/access/passwords.ts"
import { denoBinary, noDeno } from "../deno-process.ts"
import { slow } from "../long.ts"

describe("passwords", () => {
  slow("password hashes are compatible with Bun's argon2id implementation", async () => {
    const bunHash = await Bun.password.hash("tea", { algorithm: "argon2id", memoryCost: 8_192, timeCost: 3 })
    expect([await isPassword("tea", bunHash), await isPassword("Tea", bunHash)]).toEqual([true, false])
    const ownHash = await hashPassword("tea", (size) => new Uint8Array(size).fill(7))
    expect(await Bun.password.verify("tea", ownHash)).toBe(true)
  })

  test("password hashing is queued, and is refused when too many requests are waiting", async () => {
    // hashing a value that is not text fails quickly once its turn comes
    const texts = Array.from({ length: 60 }, (_, i) => (i < 3 ? "x" : (null as unknown as string)))
    const outcomes = await Promise.all(texts.map((text) => caught(() => hashPassword(text))))
    expect([outcomes.slice(0, 3), outcomes.filter((error) => error instanceof TypeError).length]).toEqual([
      [null, null, null],
      39,
    ])
    const refused = outcomes.slice(42)
    expect(refused).toHaveLength(18)
    for (const error of refused) expect(error).toMatchObject({ code: "unavailable", retryAfter: 2 })
    expect(await caught(() => hashPassword("x"))).toBeNull()
  })

  test.skipIf(noDeno)("a password hashed by Bun is accepted by Deno, and the reverse", async () => {
    const ownHash = await hashPassword("Käse")
    const script = join(import.meta.dirname, "passwords-process.ts")
    const child = Bun.spawn(
      [denoBinary(), "run", "--no-prompt", "--no-lock", "--allow-env", "--allow-read", script, ownHash],
      {
        cwd: join(import.meta.dirname, "../.."),
        stderr: "pipe",
      },
    )
    const [output, errors] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()]
    expect([await child.exited, errors.includes("error")]).toEqual([0, false])
    const { right, wrong, denoHash } = JSON.parse(output)
    expect([right, wrong]).toEqual([true, false])
    expect([await isPassword("Käse", denoHash), await isPassword("Kase", denoHash)]).toEqual([true, false])
  })

  test("a stored text that is not a valid hash causes an error and accepts no password", async () => {
    for (const hashed of ["", "Käse", "$argon2id$v=19$m=8,t=1,p=1$$", "$argon2i$v=19$m=19456,t=2,p=1$AAAA$AAAA"])
      expect(await caught(() => isPassword("Käse", hashed))).toBeInstanceOf(Error)
  })
})

async function caught(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
    return null
  } catch (error) {
    return error
  }
}
