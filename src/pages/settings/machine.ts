/** A result of one check of `appmeter doctor`. */
export interface MachineFinding {
  thing: string
  state: "ok" | "warning" | "problem"
  says: string
  /** Advice on what to do. Null if nothing needs to be done. */
  fix: string | null
}

export interface BackupFile {
  name: string
  bytes: number
  at: Date
  /** True if the server made the backup at night. The server deletes the oldest nightly backups itself. */
  isNightly: boolean
}

/** The machine that the server runs on. */
export interface Machine {
  /** Runs `appmeter doctor`. */
  examine(): Promise<MachineFinding[]>
  /** The folder of backups that were made on the page. */
  backupFolder: string
  /** The folder of nightly backups. Undefined if there are none. */
  nightlyFolder: string | undefined
  /** Returns the backups made on the page and at night, newest first. */
  listBackups(): Promise<BackupFile[]>
  /** Runs `appmeter backup` and returns once the file is complete. Throws AccessProblem. */
  backUp(): Promise<void>
  /** Returns the size and content of a backup. Null if there is no such backup. */
  readBackup(name: string): Promise<{ bytes: number; content: ReadableStream<Uint8Array> } | null>
  /** Deletes a backup that was made on the page. */
  deleteBackup(name: string): Promise<void>
}
