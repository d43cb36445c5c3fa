/**
 * Below this many bytes of weights, a second thread costs more than it gains, because the threads wait for each other about
 * a hundred times per token. Tokens/s with one and with two threads, on two cores: 9 MB 1750 and 80, 76 MB 197 and 98,
 * 145 MB 109 and 66, 288 MB 60 and 70.
 */
const smallModel = 256 * 1024 * 1024

/** The number of threads that a model computes with. */
export function threadsFor(fileBytes: number, cores: number): number {
  return fileBytes < smallModel ? 1 : Math.max(1, cores)
}
