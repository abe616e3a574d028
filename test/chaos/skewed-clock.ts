// Moves the clock of this process by SKEW_MS, forward or back. Clocks for durations are unchanged.
const skewMs = Number(process.env.SKEW_MS ?? 0)
const { now } = Date
const skewedNow = () => now() + skewMs

globalThis.Date = new Proxy(Date, {
  construct: (target, args, as) => Reflect.construct(target, args.length > 0 ? args : [skewedNow()], as),
  get: (target, name, as) => (name === "now" ? skewedNow : Reflect.get(target, name, as)),
})
