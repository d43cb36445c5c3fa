/**
 * Ends its process once that uses more memory or time than it may, or has lost its parent, even while its main thread does not yield. The
 * arguments are the bytes, the ms, and the process id of the parent.
 */
const [, , memory = 0, time = 0, parent = 0] = process.argv.map(Number)
const end = () => process.kill(process.pid, 'SIGKILL')

setTimeout(end, time)
setInterval(() => {
  if (process.memoryUsage.rss() > memory || process.ppid !== parent) end()
}, 25)
