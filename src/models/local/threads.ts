/**
 * Below this many bytes of weights a second thread costs more than it brings: the threads wait for each other some
 * hundred times a token. Measured on two cores, tokens/s with one and two threads: 9 MB 1750 and 80, 76 MB 197 and 98,
 * 145 MB 109 and 66, 288 MB 60 and 70.
 */
const smallModel = 256 * 1024 * 1024

/** How many threads a model computes with. */
export function threadsFor(fileBytes: number, cores: number): number {
  return fileBytes < smallModel ? 1 : Math.max(1, cores)
}
