import type { Machine } from "../../../src/pages/settings/machine.ts"
import type { SettingsPorts } from "../../../src/pages/settings/sections.ts"
import { sealer } from "../../alerts/delivery/scene.ts"

/** A machine without findings and backups, for tests of sections that are not about the machine. */
export const NO_MACHINE: Machine = {
  backupFolder: "/nowhere",
  nightlyFolder: undefined,
  examine: async () => [],
  listBackups: async () => [],
  backUp: async () => {},
  readBackup: async () => null,
  deleteBackup: async () => {},
}

/** Ports that reach nothing. */
export const NO_PORTS: SettingsPorts = {
  sealer,
  outbound: async () => {
    throw new Error("nothing outside is reached")
  },
  telegramApi: undefined,
  mailer: null,
  reach: {
    now: () => new Date(),
    to: () => {
      throw new Error("no console is reached")
    },
  },
  forgetBodies: async () => {},
  machine: NO_MACHINE,
}
