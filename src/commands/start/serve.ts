import { OperatorError } from '../../platform/problems.ts'
import { openService, type Service, type ServiceNeeds } from '../../service.ts'

/**
 * The most connections that wait to be accepted, where the kernel allows as many (`net.core.somaxconn`). Node accepts one in each turn of
 * its event loop, so a burst of callers soon fills Node's default of 511. The kernel then makes further callers wait for seconds.
 */
const backlog = 4096

/**
 * Opens the service, prepares it and listens: nobody can sign in while it is prepared. Throws OperatorError when the port is taken
 * or not allowed.
 */
export async function serve(needs: ServiceNeeds, prepare?: (service: Service) => Promise<void>): Promise<Service> {
  const service = await openService(needs)
  const { host, port } = needs.config.listen
  try {
    await prepare?.(service)
    await service.app.listen({ host, port, backlog })
    return service
  } catch (error) {
    await service.close()
    throw listenFault(error, host, port)
  }
}

/** EINVAL: a link-local IPv6 address without the zone of an interface. */
const absent = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND'])

/** Turns an error of listening on a port into one line for the operator. */
export function listenFault(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new OperatorError(`Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another.`)
  }
  if (code === 'EACCES') {
    return new OperatorError(
      `Port ${port} on ${host} needs privileges that this user does not have. Set PORT to another.`,
    )
  }
  if (typeof code === 'string' && absent.has(code)) {
    return new OperatorError(`This machine has no address ${host}. Set HOST to one it has, such as 127.0.0.1.`)
  }
  return error
}
