import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IPv4 networks that are not public (IANA special-purpose registry), and multicast. */
const notPublic4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** All that is public in IPv6, and what is not in there: addresses with an IPv4 address inside, and documentation. */
const global6 = listOf(['2000::/3'])
const notPublic = listOf([...notPublic4, '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** An address that was found for a host. */
export interface FoundAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host name. Rejects if there are none. */
export type FindAddresses = (host: string) => Promise<readonly FoundAddress[]>

const findAddresses: FindAddresses = (host) => lookup(host, { all: true })

/** The `lookup` of a connection to exactly this address: a name that changes its address meanwhile changes nothing. */
export const only =
  (found: FoundAddress): LookupFunction =>
  (_host, options, done) =>
    options.all === true ? done(null, [found]) : done(null, found.address, found.family)

/** A host that is in a network which requests of this service must not reach. */
export class ForbiddenNetwork extends Error {
  readonly code = 'forbidden_network'

  constructor() {
    super('the address is not public, and not in alerts.allowed_networks')
  }
}

/**
 * Finds the addresses of a host: public ones, and those in the allowed networks. Throws ForbiddenNetwork if one of them is
 * another, so that a connection to an address that it returned cannot leave these networks.
 */
export function createFinder(allowedNetworks: readonly string[], find: FindAddresses = findAddresses): FindAddresses {
  const allowed = listOf(allowedNetworks)
  const may = (address: string) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (allowed.check(address, family)) return true
    return !notPublic.check(address, family) && (family === 'ipv4' || global6.check(address, family))
  }
  return async (name) => {
    const host = name.replace(/^\[|\]$/g, '')
    const family = isIP(host)
    const found = family === 0 ? await find(host) : [{ address: host, family }]
    if (!found.every(({ address }) => may(address))) throw new ForbiddenNetwork()
    return found
  }
}
