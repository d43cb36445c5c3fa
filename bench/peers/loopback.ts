import { Server } from 'node:net'

// Loaded before a peer that can only listen on every address: for the minutes of a benchmark it is for this machine.

// oxlint-disable-next-line typescript/unbound-method -- it gets its server below
const { listen } = Server.prototype

Server.prototype.listen = function listenHere(this: Server, ...args: unknown[]): Server {
  const done = args.find((argument) => typeof argument === 'function')
  Reflect.apply(listen, this, [{ port: Number(args[0]), host: '127.0.0.1' }, done])
  return this
}
