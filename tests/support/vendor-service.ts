import { after } from 'node:test'
import { startService, upstreamModel } from './service.ts'
import { startVendor } from './vendor.ts'

/** Starts a service with one model, `fast`, behind a stand-in vendor. Both are closed after the test file. */
export async function openVendorService() {
  const vendor = await startVendor()
  const service = await startService({ models: [upstreamModel(vendor.url)] })
  after(async () => {
    await service.close()
    await vendor.close()
  })
  return { vendor, service }
}
