import { repeat } from '../flow/repeat.ts'
import { createSealer, type SealerNeeds } from './sealer.ts'

/** Seals in the background until closed. `pause` in ms, default 5000. */
export function startSealing({ pause = 5000, ...needs }: SealerNeeds & { readonly pause?: number }) {
  const sealer = createSealer(needs)
  const sealing = repeat({ name: 'sealing', pause, work: sealer.seal, log: needs.log })
  return Object.freeze({
    /** Seals all remaining rows, unless a running transaction prevents it. */
    async close(): Promise<void> {
      await sealing.stop()
      for (const call of [sealer.seal, sealer.seal]) {
        await call().catch((error: unknown) => needs.log.warn({ err: error }, 'some rows are not sealed yet'))
      }
    },
  })
}
