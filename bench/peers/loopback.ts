import { Server } from 'node:net'

// Loaded before a peer that can only listen on all addresses: makes it listen on 127.0.0.1 alone.

// oxlint-disable-next-line typescript/unbound-method -- called with its server below
const { listen } = Server.prototype

Server.prototype.listen = function listenHere(this: Server, ...args: unknown[]): Server {
  const done = args.find((argument) => typeof argument === 'function')
  Reflect.apply(listen, this, [{ port: Number(args[0]), host: '127.0.0.1' }, done])
  return this
}
