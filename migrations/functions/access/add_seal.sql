-- Adds the next seal of a chain: of the rows up to p_upto, at most 20 000 numbers. No row when there is nothing to seal, or
-- another instance is sealing.
create or replace function add_seal(p_chain text, p_upto bigint) returns setof seal language plpgsql set search_path from current as $$
declare
  v_chain seal_chain;
  v_last seal;
  v_new seal;
begin
  select * into v_chain from seal_chain where name = p_chain for update skip locked;
  if not found or p_upto <= v_chain.upto then return; end if;
  select * into v_last from seal where chain = p_chain order by number desc limit 1;
  if (v_chain.seals, v_chain.upto, v_chain.hash)
      <> (coalesce(v_last.number, 0), coalesce(v_last.upto, 0), coalesce(v_last.hash, ''::bytea)) then
    raise exception 'the seals of % do not end where sealing stopped', p_chain using errcode = 'TG004';
  end if;
  perform set_config('tollgate.proof', 'on', true);
  v_new.chain := p_chain;
  v_new.number := v_chain.seals + 1;
  v_new.upto := least(p_upto, v_chain.upto + 20000);
  v_new.columns := array(select attname from pg_attribute
    where attrelid = quote_ident(p_chain)::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum);
  v_new.at := clock_timestamp();
  select d.rows, d.digest, d.marks into v_new.rows, v_new.digest, v_new.marks
    from range_digest(p_chain, v_chain.number, v_new.columns, v_chain.upto, v_new.upto) d;
  if p_chain = 'ledger' then v_new.checksum := ledger_checksum(v_chain.upto, v_new.upto); end if;
  v_new.hash := seal_hash(v_chain.hash, v_new);
  insert into seal select v_new.*;
  update seal_chain set seals = v_new.number, upto = v_new.upto, hash = v_new.hash where name = p_chain;
  return next v_new;
end $$;
