/** Explains in one line for the operator why the database cannot be used. Never contains a password. */
export class DatabaseProblem extends Error {
  override name = "DatabaseProblem"
}
