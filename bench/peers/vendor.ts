import { startVendor } from '../../tests/support/vendor.ts'

/** The stand-in of a vendor as a process of its own, on the port that is given. */
await startVendor({}, Number(process.argv[2]))
