const nobody = 65_534

/** Runs `work` without the privileges of root, which could read and write every file. */
export async function asOrdinaryUser<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(nobody)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
