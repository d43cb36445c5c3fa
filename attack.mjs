import { createServer } from 'node:http'
import { startService, upstreamModel } from './tests/support/service.ts'
let handler
const server = createServer(async (q, r) => { let b=''; for await (const c of q) b+=c; let j; try{j=JSON.parse(b)}catch{}; if(q.url.endsWith('/models')) return r.writeHead(404).end(); await handler(j, r, q) }).listen(0,'127.0.0.1')
await new Promise(r=>server.once('listening',r))
const url = `http://127.0.0.1:${server.address().port}/v1`
const service = await startService({ models: [upstreamModel(url, {timeout:{first_token:'2s', total:'20s'}})] })
const c = await service.customer()
const json = (o, s=200) => (j,r) => { r.writeHead(s, {'content-type':'application/json'}); r.end(JSON.stringify(o)) }
const sse = (lines, {gap=0, eol='\n', end=true}={}) => async (j,r) => { r.writeHead(200, {'content-type':'text/event-stream'}); for (const l of lines) { if (typeof l==='number') { await new Promise(x=>setTimeout(x,l)); continue } r.write(l.replaceAll('\n',eol)) } if(end) r.end(); else r.destroy() }
const d = (o) => `data: ${typeof o==='string'?o:JSON.stringify(o)}\n\n`
const ch = (delta, finish=null, more={}) => d({id:'x',object:'chat.completion.chunk',choices:[{index:0,delta,finish_reason:finish}],...more})
const U = {prompt_tokens:10,completion_tokens:5,total_tokens:15}
const whole = (message, finish='stop', usage=U, more={}) => json({id:'x',object:'chat.completion',choices:[{index:0,message:{role:'assistant',...message},finish_reason:finish}],usage,...more})
const cases = {
 'finish eos': [false, whole({content:'Hi'},'eos')],
 'finish empty': [false, whole({content:'Hi'},'')],
 'finish null': [false, whole({content:'Hi'},null)],
 'finish MAX_TOKENS': [false, whole({content:'Hi'},'MAX_TOKENS')],
 'finish number': [false, whole({content:'Hi'},7)],
 'finish insufficient': [true, sse([ch({content:'Hi'}), ch({},'insufficient_system_resource'), d({choices:[],usage:U}), d('[DONE]')])],
 'stream no finish, done': [true, sse([ch({content:'Hi'}), d({choices:[],usage:U}), d('[DONE]')])],
 'stream no finish, no done': [true, sse([ch({content:'Hi'})])],
 'stream finish, no done': [true, sse([ch({content:'Hi'}), ch({},'stop')])],
 'usage string': [false, whole({content:'Hi'},'stop',{prompt_tokens:'10',completion_tokens:5,total_tokens:15})],
 'usage negative': [false, whole({content:'Hi'},'stop',{prompt_tokens:-1,completion_tokens:5,total_tokens:15})],
 'usage null': [false, whole({content:'Hi'},'stop',null)],
 'usage float': [false, whole({content:'Hi'},'stop',{prompt_tokens:10.5,completion_tokens:5.2,total_tokens:15})],
 'usage huge': [false, whole({content:'Hi'},'stop',{prompt_tokens:1e12,completion_tokens:1e12,total_tokens:2e12})],
 'usage total only thoughts': [false, whole({content:'Hi'},'stop',{prompt_tokens:10,completion_tokens:5,total_tokens:100})],
 'usage groq': [true, sse([ch({content:'Hi'}), ch({},'stop',{x_groq:{usage:U}}), d('[DONE]')])],
 'usage each chunk': [true, sse([ch({content:'H'},null,{usage:{prompt_tokens:10,completion_tokens:1,total_tokens:11}}), ch({content:'i'},null,{usage:{prompt_tokens:10,completion_tokens:2,total_tokens:12}}), ch({},'stop',{usage:U}), d('[DONE]')])],
 'usage in chunk without choices key': [true, sse([ch({content:'Hi'}), ch({},'stop'), d({usage:U}), d('[DONE]')])],
 'chunk choices null': [true, sse([ch({content:'Hi'}), d({choices:null}), ch({},'stop'), d('[DONE]')])],
 'chunk without delta': [true, sse([d({choices:[{index:0}]}), ch({content:'Hi'}), ch({},'stop'), d('[DONE]')])],
 'empty data lines': [true, sse(['data:\n\n', 'data: \n\n', ch({content:'Hi'}), ':\n\n', ch({},'stop'), d('[DONE]')])],
 'crlf': [true, sse([ch({content:'Hi'}), ch({},'stop'), d('[DONE]')],{eol:'\r\n'})],
 'cr': [true, sse([ch({content:'Hi'}), ch({},'stop'), d('[DONE]')],{eol:'\r'})],
 'bom': [true, sse(['\ufeff'+ch({content:'Hi'}), ch({},'stop'), d('[DONE]')])],
 'no space': [true, sse([ch({content:'Hi'}), ch({},'stop'), d('[DONE]')].map(x=>x.replace('data: ','data:')))],
 'event named lines': [true, sse([ch({content:'Hi'}), ch({},'stop'), d('[DONE]')].map(x=>'event: message\nid: 4\n'+x))],
 'done twice': [true, sse([ch({content:'Hi'}), ch({},'stop'), d('[DONE]'), d('[DONE]')])],
 'text after finish': [true, sse([ch({content:'Hi'}), ch({},'stop'), ch({content:' more'}), d('[DONE]')])],
 'finish in each chunk empty': [true, sse([ch({content:'H'},''), ch({content:'i'},''), ch({},'stop'), d('[DONE]')])],
 'content array': [false, whole({content:[{type:'text',text:'Hi'}]})],
 'content null': [false, whole({content:null})],
 'content empty length': [false, whole({content:''},'length')],
 'no usage total': [false, whole({content:'Hi'},'stop',{prompt_tokens:10,completion_tokens:5})],
 'choices two': [false, json({choices:[{index:1,message:{content:'B'},finish_reason:'stop'},{index:0,message:{content:'A'},finish_reason:'stop'}],usage:U})],
 'json for stream': [true, whole({content:'Hi'})],
 'sse for whole': [false, sse([ch({content:'Hi'}), ch({},'stop',{usage:U}), d('[DONE]')])],
 'error in stream first': [true, sse([d({error:{message:'boom',code:500}})])],
 'error in stream later': [true, sse([ch({content:'Hi'}), d({error:{message:'boom'}})])],
 '200 error': [false, json({error:{message:'boom',type:'x'}})],
 'slow whole 3s': [false, async (j,r)=>{ await new Promise(x=>setTimeout(x,3000)); whole({content:'Hi'})(j,r)}],
 'slow stream comments': [true, sse([': a\n\n',1500,': a\n\n',1500,ch({content:'Hi'}),ch({},'stop'),d('[DONE]')])],
 'slow stream role chunk then think 3s': [true, sse([ch({role:'assistant',content:''}),3000,ch({content:'Hi'}),ch({},'stop'),d('[DONE]')])],
 'tool id later': [true, sse([ch({tool_calls:[{index:0,function:{name:'f',arguments:''}}]}), ch({tool_calls:[{index:0,id:'c9',function:{arguments:'{}'}}]}), ch({},'tool_calls'), d('[DONE]')])],
 'two whole calls one index': [true, sse([ch({tool_calls:[{index:0,id:'a',function:{name:'f',arguments:'{"a":1}'}}]}), ch({tool_calls:[{index:0,id:'b',function:{name:'f',arguments:'{"a":2}'}}]}), ch({},'tool_calls'), d('[DONE]')])],
 'call without index': [true, sse([ch({tool_calls:[{id:'a',type:'function',function:{name:'f',arguments:'{"a":1}'}}]}), ch({},'stop'), d('[DONE]')])],
 'call args object': [false, whole({content:null,tool_calls:[{id:'a',type:'function',function:{name:'f',arguments:{a:1}}}]},'tool_calls')],
 'call no id': [false, whole({content:null,tool_calls:[{type:'function',function:{name:'f',arguments:'{}'}}]},'stop')],
 'legacy function_call': [false, whole({content:null,function_call:{name:'f',arguments:'{}'}},'function_call')],
 'cut mid': [true, sse([ch({content:'Hi'})],{end:false})],
 'gzip?': [false, whole({content:'Hi'})],
 'content type plain': [false, (j,r)=>{r.writeHead(200,{'content-type':'text/plain'});r.end(JSON.stringify({choices:[{message:{content:'Hi'},finish_reason:'stop'}],usage:U}))}],
 'utf16 surrogate split': [true, sse([ch({content:'\ud83d'}),ch({content:'\ude00'}),ch({},'stop'),d('[DONE]')])],
 'lone surrogate': [true, sse([d('{"choices":[{"index":0,"delta":{"content":"a\\ud83d"},"finish_reason":null}]}'),ch({},'stop'),d('[DONE]')])],
}
const only = process.argv[2]
for (const [name,[stream,h]] of Object.entries(cases)) {
  if (only && !name.includes(only)) continue
  let n=0; handler = (j,r,q)=>{ n++; return h(j,r,q) }
  const t=Date.now()
  const tools = name.includes('call')||name.includes('tool') ? {tools:[{type:'function',function:{name:'f',parameters:{type:'object',properties:{}}}}]} : {}
  const res = await fetch(service.url+'/v1/chat/completions',{method:'POST',headers:{authorization:'Bearer '+c.key,'content-type':'application/json'},body:JSON.stringify({model:'fast',messages:[{role:'user',content:'x'}],max_tokens:50,stream,stream_options:stream?{include_usage:true}:undefined,...tools})})
  const text = await res.text()
  let out
  if (stream && res.status===200) { const ev=[...text.matchAll(/^data: (.*)$/gm)].map(m=>m[1]); const js=ev.filter(e=>e!=='[DONE]').map(e=>JSON.parse(e)); out={text:js.map(x=>x.choices?.[0]?.delta?.content??'').join(''), calls:js.flatMap(x=>x.choices?.[0]?.delta?.tool_calls??[]).map(x=>[x.index,x.id,x.function?.name,x.function?.arguments].join('|')).join(' '), fin:js.map(x=>x.choices?.[0]?.finish_reason).filter(Boolean).join(), err:js.find(x=>x.error)?.error?.message, usage:JSON.stringify(js.findLast(x=>x.usage)?.usage), done:ev.includes('[DONE]')} }
  else out = text.slice(0,330)
  const {rows,holds}=await service.books(c.accountId)
  const last = rows.at(-1)
  console.log(`${name.padEnd(28)} ${res.status} calls ${n} ${Date.now()-t}ms`, typeof out==='string'?out:JSON.stringify(out), '| rows', rows.length, last && `${last.inputTokens}/${last.outputTokens} ${last.stopReason}`, 'holds', holds)
}
await service.close(); server.close(); server.closeAllConnections()
