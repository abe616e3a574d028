#!/usr/bin/env node
// Starts the program of this machine, which npm installed as an optional dependency.
const { spawn } = require("node:child_process")
const { existsSync } = require("node:fs")
const { constants } = require("node:os")
const { dirname, join } = require("node:path")

const systems = { linux: "linux", darwin: "darwin", win32: "windows" }
const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime
const name = `appmeter-${systems[process.platform]}-${process.arch}${isMusl ? "-musl" : ""}`

function programPath() {
  try {
    const folder = dirname(require.resolve(`${name}/package.json`))
    const file = join(folder, process.platform === "win32" ? "appmeter.exe" : "appmeter")
    return existsSync(file) ? file : null
  } catch {
    return null
  }
}

const program = programPath()
if (program === null) {
  console.error(`appmeter: there is no program for this machine (${name}); in a checkout, run: bun run build`)
  process.exit(1)
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" })
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", ({ message }) => {
  console.error(`appmeter: ${message}`)
  process.exit(1)
})
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
