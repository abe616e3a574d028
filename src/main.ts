#!/usr/bin/env bun
import "./process/early-thread.ts"
import { openProcess } from "./commands/process.ts"
import { listen } from "./process/listen.ts"
import { bunRedisWire } from "./process/redis/bun-wire.ts"

await openProcess(bunRedisWire).runToItsEnd(process.argv.slice(2), listen)
