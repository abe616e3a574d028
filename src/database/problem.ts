/** Why there is no database to work with, in one line an operator can act on. Never holds a password. */
export class DatabaseProblem extends Error {
  override name = "DatabaseProblem"
}
