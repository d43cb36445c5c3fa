import { openLog } from '../../platform/log/log.ts'
import { openDemoProvider } from './provider.ts'
import { isProviderOrder } from './provider-settings.ts'

/** The process of the demo's provider, forked by `provider-process.ts`. It exits with the service. */

// Ignore signals: Ctrl-C and a closing terminal reach every process, and the service decides when its provider exits.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit())
process.once('message', (order) => {
  if (isProviderOrder(order)) void open(order)
})

async function open(order: Parameters<typeof openDemoProvider>[0]): Promise<void> {
  const { log } = openLog()
  const { issuer, mailPort } = await openDemoProvider(order, log)
  process.send?.({ issuer, mailPort })
}
