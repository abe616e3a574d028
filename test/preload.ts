import { setDefaultTimeout } from "bun:test"

// The first start of the embedded database on a machine takes 4 s, and child processes share two cores with the tests.
setDefaultTimeout(30_000)
