-- Seals prove that the rows of an append-only table are the rows that were written. A seal covers a range of row numbers
-- and is chained to the seal before it. Sealing runs in the background: writers do no extra work beyond drawing a number.

-- The tables that are sealed. upto, seals and hash repeat the last seal, so that a removed last seal leaves a trace, and no
-- second chain can begin over rows that were sealed before.
create table seal_chain (
  name   text primary key,
  -- The column that numbers the rows. It is drawn from a sequence, by transactions that already have their id.
  number text not null,
  seals  bigint not null default 0,
  upto   bigint not null default 0,
  hash   bytea not null default ''
);

create table seal (
  chain   text not null references seal_chain,
  number  bigint not null,
  -- The last row number that it covers. The first follows the previous seal's upto.
  upto    bigint not null,
  rows    bigint not null,
  -- Columns added to the table later are covered by later seals only.
  columns text[] not null,
  at      timestamptz not null,
  digest  bytea not null check (length(digest) = 32),
  -- Eight bytes a row: its number less the previous seal's upto, and the first four bytes of its digest. They name the rows
  -- at fault once the seal's digest differs.
  marks   bytea not null,
  -- What the rows add to the checksum of the daily roll-ups; null for every table but the ledger.
  checksum numeric,
  hash    bytea not null check (length(hash) = 32),
  primary key (chain, number),
  unique (chain, upto)
);

-- The account and secret of each key when it was issued. Neither ever changes.
create table key_issue (
  number      bigint generated always as identity primary key,
  key_id      uuid not null unique,
  account_id  uuid,
  secret_hash bytea not null,
  at          timestamptz not null default clock_timestamp()
);
insert into key_issue (key_id, account_id, secret_hash) select id, account_id, secret_hash from api_key;
create function keep_issue() returns trigger language plpgsql set search_path from current as $$
begin
  insert into key_issue (key_id, account_id, secret_hash) values (new.id, new.account_id, new.secret_hash);
  return null;
end $$;
create trigger issued after insert on api_key for each row execute function keep_issue();

alter table credit_entry add column number bigint generated always as identity unique;
alter table price add column number bigint generated always as identity unique;
alter table revision add column number bigint generated always as identity unique;
-- PostgreSQL 15 and 16 have no identity columns in partitions. Rows lie in the order of their numbers, so the index is small
-- and costs writers next to nothing.
create sequence ledger_number;
alter table ledger add column number bigint not null default nextval('ledger_number');
alter sequence ledger_number owned by ledger.number;
create index ledger_by_number on ledger using brin (number) with (pages_per_range = 32, autosummarize = on);

insert into seal_chain (name, number) values
  ('ledger', 'number'), ('credit_entry', 'number'), ('price', 'number'), ('key_issue', 'number'), ('revision', 'number'),
  ('audit', 'id');

-- A transaction has its id before it draws a number. Revisions and issued keys are written by triggers, and the till
-- updates its instance first.
create trigger numbered_in_order before insert on credit_entry for each statement execute function take_transaction_id();
create trigger numbered_in_order before insert on price for each statement execute function take_transaction_id();

do $$
declare
  v_table text;
begin
  foreach v_table in array array['seal', 'ledger', 'credit_entry', 'price', 'key_issue'] loop
    execute format('create trigger append_only before update or delete or truncate on %I
      for each statement execute function refuse_change()', v_table);
    execute format('revoke update, delete, truncate on %I from %I', v_table, current_user);
  end loop;
  -- The owner reads records only to seal and to prove them.
  foreach v_table in array array['revision', 'client', 'note', 'dispute', 'letter'] loop
    execute format($policy$create policy proved on %I for select to %I
      using (current_setting('tollgate.proof', true) = 'on')$policy$, v_table, current_user);
  end loop;
end $$;

-- The digest of each row whose number is in (p_after, p_upto].
create function row_digests(p_table text, p_number text, p_columns text[], p_after bigint, p_upto bigint)
returns table (number bigint, digest bytea)
language plpgsql stable
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set bytea_output = 'hex'
set jit = off set search_path from current
as $$
begin
  return query execute format(
    $query$ select t.%1$I, sha256(convert_to(row(%3$s)::text, 'UTF8')) from %2$I t where t.%1$I > $1 and t.%1$I <= $2 $query$,
    p_number, p_table, (select string_agg(format('t.%I', name), ', ' order by place)
      from unnest(p_columns) with ordinality as c(name, place)))
  using p_after, p_upto;
end $$;

-- The digest and marks of a range of rows.
create function range_digest(p_table text, p_number text, p_columns text[], p_after bigint, p_upto bigint,
  out rows bigint, out digest bytea, out marks bytea)
language sql stable set search_path from current as $$
  select count(*), sha256(coalesce(string_agg(r.digest, ''::bytea order by r.number), ''::bytea)),
    coalesce(string_agg(int4send((r.number - p_after)::integer) || substring(r.digest from 1 for 4), ''::bytea
      order by r.number), ''::bytea)
  from row_digests(p_table, p_number, p_columns, p_after, p_upto) r
$$;

-- The checksum of daily roll-ups: their requests, tokens and cost, each multiplied by 64 bits of a hash that names the roll-up.
-- The ledger's rows and the roll-ups have the same checksum, and the checksum of a sealed range is in its seal, so the
-- roll-ups can be compared with the ledger without reading it.
create function usage_hash(p_account_id uuid, p_day date, p_key_id uuid, p_person_id uuid, p_model text, p_client_id uuid)
returns bytea language sql immutable
return sha256(convert_to((p_day - date '2000-01-01')::text || '/' || p_account_id::text || '/' || coalesce(p_key_id::text, '')
  || '/' || coalesce(p_person_id::text, '') || '/' || coalesce(p_client_id::text, '') || '/' || p_model, 'UTF8'));

create function hash_part(p_hash bytea, p_part integer) returns numeric language sql immutable
return ('x' || encode(substring(p_hash from 8 * p_part + 1 for 8), 'hex'))::bit(64)::bigint::numeric;

create function usage_checksum(p_hash bytea, p_requests numeric, p_input_tokens numeric, p_output_tokens numeric, p_cost numeric)
returns numeric language sql immutable
return hash_part(p_hash, 0) * p_requests + hash_part(p_hash, 1) * p_input_tokens + hash_part(p_hash, 2) * p_output_tokens
  + hash_part(p_hash, 3) * p_cost;

-- The checksum of the ledger's rows whose number is in (p_after, p_upto].
create function ledger_checksum(p_after bigint, p_upto bigint) returns numeric
language sql stable set enable_seqscan = off set enable_sort = off set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(hash, requests, input_tokens, output_tokens, cost)), 0) from (
    select usage_hash(account_id, (at at time zone 'UTC')::date, key_id, person_id, model, client_id) as hash,
      count(*) as requests, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cost) as cost
    from ledger where number > p_after and number <= p_upto
    group by account_id, (at at time zone 'UTC')::date, key_id, person_id, model, client_id offset 0) u
$$;

-- The checksum of the roll-ups.
create function roll_up_checksum() returns numeric language sql stable set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(hash, requests, input_tokens, output_tokens, cost)), 0) from (
    select usage_hash(account_id, day, key_id, person_id, model, client_id) as hash, requests, input_tokens, output_tokens, cost
    from usage_day offset 0) u
$$;

create function seal_hash(p_previous bytea, p_seal seal) returns bytea language sql stable set search_path from current as $$
  select sha256(p_previous || convert_to(jsonb_build_array(p_seal.chain, p_seal.number, p_seal.upto, p_seal.rows,
    p_seal.columns, (extract(epoch from p_seal.at) * 1000000)::bigint, encode(p_seal.digest, 'hex'),
    p_seal.checksum)::text, 'UTF8'))
$$;

-- The last number drawn for a table.
create function last_number(p_table text, p_number text) returns bigint language plpgsql set search_path from current as $$
declare
  v_last bigint;
begin
  execute format('select case when is_called then last_value else 0 end from %s',
    pg_get_serial_sequence(quote_ident(p_table), p_number)) into v_last;
  return v_last;
end $$;

-- The last sealed number of each chain and the last number drawn from its sequence. Once the oldest running transaction is
-- younger than `mark`, no smaller number can appear. `mark` is null if every row is sealed.
create function seal_horizon()
returns table (chain text, sealed bigint, last bigint, mark text, oldest text) language plpgsql set search_path from current as $$
declare
  v_chain seal_chain;
  v_oldest text := pg_snapshot_xmin(pg_current_snapshot())::text;
begin
  for v_chain in select * from seal_chain order by name loop
    chain := v_chain.name;
    sealed := v_chain.upto;
    oldest := v_oldest;
    last := last_number(chain, v_chain.number);
    -- Not the snapshot's xmax: running transactions may be younger than that.
    mark := case when last > sealed then pg_current_xact_id()::text end;
    return next;
  end loop;
end $$;

-- Adds the next seal of a chain: of the rows up to p_upto, at most 20 000 numbers. No row when there is nothing to seal, or
-- another instance is sealing.
create function add_seal(p_chain text, p_upto bigint) returns setof seal language plpgsql set search_path from current as $$
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

-- The seals of one chain with upto in (p_from, p_upto] whose rows have changed, with the present number of rows.
create function faulty_seals(p_chain text, p_from bigint, p_upto bigint)
returns table (seal bigint, after bigint, upto bigint, sealed_rows bigint, rows_there bigint)
-- The plan must not depend on statistics of a table that is analyzed rarely.
language sql stable set enable_nestloop = off set search_path from current as $$
  with sealed as materialized (
    select s.number, lag(s.upto, 1, (select coalesce(max(b.upto), 0) from seal b where b.chain = p_chain and b.upto <= p_from))
      over (order by s.number) as after, s.upto, s.rows, s.columns, s.digest, s.marks
    from seal s where s.chain = p_chain and s.upto > p_from and s.upto <= p_upto
  ), run as materialized (
    select columns, min(after) as after, max(upto) as upto, array_agg(number order by number) as numbers,
      array_agg(upto order by number) as ends
    from sealed group by columns
  ), there as materialized (
    -- width_bucket finds the seal that covers a row.
    select run.numbers[width_bucket(r.number - 1, run.ends) + 1] as seal, r.number, r.digest
    from run join seal_chain c on c.name = p_chain
      cross join lateral row_digests(p_chain, c.number, run.columns, run.after, run.upto) r
  ), found as (
    select sealed.number, count(there.number) as rows,
      sha256(coalesce(string_agg(there.digest, ''::bytea order by there.number), ''::bytea)) as digest,
      coalesce(string_agg(int4send((there.number - sealed.after)::integer) || substring(there.digest from 1 for 4), ''::bytea
        order by there.number), ''::bytea) as marks
    from sealed left join there on there.seal = sealed.number group by sealed.number, sealed.after
  )
  select s.number, s.after, s.upto, s.rows, f.rows from sealed s join found f using (number)
  where (s.rows, s.digest, s.marks) is distinct from (f.rows, f.digest, f.marks) order by s.number
$$;

-- The rows of a seal that were changed, added or removed, found by its marks. None if the seal itself was changed.
create function faulty_rows(p_chain text, p_seal bigint)
returns table (number bigint, fault text)
language sql stable set enable_nestloop = off set search_path from current as $$
  with s as (
    select seal.*, c.number as numbering, (select coalesce(max(b.upto), 0) from seal b where b.chain = p_chain
      and b.number < p_seal) as after
    from seal join seal_chain c on c.name = chain where chain = p_chain and seal.number = p_seal
  ), there as (
    select r.number, substring(r.digest from 1 for 4) as mark
    from s cross join lateral row_digests(p_chain, s.numbering, s.columns, s.after, s.upto) r
  ), marked as (
    select s.after + ('x' || encode(substring(s.marks from n * 8 + 1 for 4), 'hex'))::bit(32)::integer as number,
      substring(s.marks from n * 8 + 5 for 4) as mark
    from s cross join generate_series(0, length(s.marks) / 8 - 1) n
  )
  select number, case when marked.mark is null then 'added' when there.mark is null then 'missing' else 'changed' end
  from there full join marked using (number)
  where there.mark is distinct from marked.mark order by number
$$;
