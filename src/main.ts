#!/usr/bin/env bun
import "./commands/process/early-thread.ts"
import { bunRedisWire } from "./access/redis/bun-wire.ts"
import { listen } from "./commands/process/listen.ts"
import { openProcess } from "./commands/process.ts"

await openProcess(bunRedisWire).runToItsEnd(process.argv.slice(2), listen)
