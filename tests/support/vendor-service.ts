import { fixture } from './fixture.ts'
import { startService, upstreamModel } from './service.ts'
import { startVendor } from './vendor.ts'

/** A service with one model, `fast`, behind a stand-in vendor, for the tests of a file. */
export function openVendorService() {
  const vendor = fixture(() => startVendor())
  const service = fixture(() => startService({ models: [upstreamModel(vendor.url)] }))
  return { vendor, service }
}
