#!/usr/bin/env bun
import { listen } from "./commands/listen.ts"
import { openProcess } from "./commands/process.ts"
import { bunRedisWire } from "./commands/redis-wire.ts"

await openProcess(bunRedisWire).runToItsEnd(process.argv.slice(2), listen)
