import type { FastifyRequest } from 'fastify'
import { deviceOf } from './device.ts'
import { networkOf } from './network.ts'

/** The browser that sent a request. */
export interface Visitor {
  readonly cookies: string | undefined
  readonly device: string
  readonly network: string
  /** For the audit log. */
  readonly address: string
  readonly requestId: string
}

/** The address is that of the nearest hop that is not a trusted proxy. */
export function visitorOf({ headers, ip, id }: FastifyRequest): Visitor {
  return {
    cookies: headers.cookie,
    device: deviceOf(headers['user-agent']),
    network: networkOf(ip),
    address: ip,
    requestId: id,
  }
}
