/** A finding of `appmeter doctor` about one thing of the installation. */
export interface MachineFinding {
  thing: string
  state: "ok" | "warning" | "problem"
  says: string
  /** Null if nothing is to be done. */
  fix: string | null
}

export interface BackupFile {
  name: string
  bytes: number
  at: Date
}

/** The machine that the server runs on. */
export interface Machine {
  /** Runs `appmeter doctor`. */
  examine(): Promise<MachineFinding[]>
  /** The folder of backups that were made on the page. */
  backupFolder: string
  /** The newest first. */
  listBackups(): Promise<BackupFile[]>
  /** Runs `appmeter backup` and returns once the file is complete. Throws AccessProblem. */
  backUp(): Promise<void>
  /** Null if there is no such backup. */
  readBackup(name: string): Promise<{ bytes: number; content: ReadableStream<Uint8Array> } | null>
  deleteBackup(name: string): Promise<void>
}
