import { startVendor } from '../../tests/support/vendor.ts'

/** The stand-in for a vendor in its own process. Argument: the port. */
await startVendor({}, Number(process.argv[2]))
