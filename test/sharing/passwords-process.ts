import process from "node:process"
import { hashPassword, isPassword } from "../../src/access/passwords.ts"

// Runs in another runtime: checks a password hash of "Käse" that Bun created, and creates one itself.
const hashed = process.argv[2] as string
const right = await isPassword("Käse", hashed)
const wrong = await isPassword("Kase", hashed)
console.log(JSON.stringify({ right, wrong, denoHash: await hashPassword("Käse") }))
