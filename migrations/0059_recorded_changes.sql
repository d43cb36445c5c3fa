-- Settings and the like: what decides about money or access, and is neither append-only nor the sum of something that is. Every
-- change to them commits with an event of the audit log. A trigger leaves a row here for each, which is sealed, so that `verify`
-- finds what was changed, added or removed in any other way: docs/decisions/0020-recorded-changes.md.
create table recorded_change (
  number     bigint generated always as identity primary key,
  table_name text not null,
  row_key    text not null,
  -- Of the row as it is now. Null: it was removed.
  digest     bytea check (length(digest) = 32),
  -- Four bytes of the digest of each column. They name the columns that differ.
  marks      jsonb,
  -- The last event of the same transaction.
  event      bigint,
  -- When the transaction began. What a migration records has the time of that migration, and no event.
  at         timestamptz not null default now()
);
create index on recorded_change (table_name, row_key, number);

-- The tables, the columns that identify their rows, and those whose changes are recorded. A migration that changes this function
-- then calls record_all() for the table.
create function recorded_columns() returns table (table_name text, keys text[], columns text[])
language sql immutable set search_path from current as $$
  values ('alert_rule', '{id}'::text[], '{account_id,shares,email,webhook,secret,removed_at}'::text[]),
    ('books_currency', '{only_row}', '{currency}'),
    ('closed_month', '{month}', '{month}'),
    ('credit_entry', '{id}', '{account_id,amount,note}'),
    ('draft', '{id}', '{client_id,created_by,instructions,sources,model,subject,rewrites,rewrites_version}'),
    ('encryption_check', '{only_row}', '{encrypted}'),
    ('erasure', '{id}', '{client_id,reason,due_at,scheduled_by,withdrawn_at,withdrawn_by}'),
    ('identity', '{id}', '{issuer,subject,person_id}'),
    ('invitation', '{id}', '{email,email_key,name,role,invited_by,token_hash,expires_at,person_id,accepted_at,withdrawn_at}'),
    ('invoice_payment', '{id}', '{invoice_id,date,amount,method,reference,reverses_id,by}'),
    ('invoice_series', '{name}', '{last}'),
    ('letter_template', '{id}', '{kind,name,instructions,is_default,removed_at,version}'),
    ('letter_template_revision', '{template_id,version}', '{data,person_id,removed}'),
    ('number_key', '{}', '{key}'),
    ('passkey', '{id}', '{person_id,rp_id,credential_id,public_key,transports}'),
    ('passkey_owner', '{person_id}', '{handle}'),
    ('password', '{person_id}', '{hash,changed_at}'),
    ('person', '{id}', '{name,email,email_key,role,status,deleted_at}'),
    ('phone', '{person_id}', '{number,verified_at}'),
    ('price', '{number}', '{model,valid_from,input,output,cached_input,cache_write,source,scheduled}'),
    ('recovery_code', '{person_id,hash}', '{hash}'),
    ('totp', '{person_id}', '{secret}'),
    -- Last, so that a migration that waits for others does not keep the till waiting.
    ('api_key', '{id}', '{account_id,person_id,public_id,secret_hash,name,allowed_models,expires_at,limit_id,replaced_by,revoked_at}'),
    ('key_limit', '{id}', '{account_id,requests_per_minute,tokens_per_minute,daily_budget,monthly_budget}'),
    ('account', '{id}', '{name,own,status,closed_at,limits_keys,requests_per_minute,tokens_per_minute,monthly_limit,billing_name,billing_address,billing_tax_number,billing_email}')
$$;

-- What is recorded of a row `t` of the table, as the select list of a query.
create function recorded_row(p_table text) returns text language sql stable set search_path from current as $$
  select format($list$concat_ws('/', %s) as row_key, sha256(convert_to(row(%s)::text, 'UTF8')) as digest,
      jsonb_build_object(%s) as marks$list$,
    (select coalesce(string_agg(format('t.%I', key), ', ' order by place), '''''') from unnest(r.keys) with ordinality k (key, place)),
    string_agg(c.value, ', ' order by c.place),
    string_agg(format($mark$%L, encode(substring(sha256(convert_to(row(%s)::text, 'UTF8')) for 4), 'hex')$mark$, c.name, c.value), ', '))
  from recorded_columns() r cross join lateral (
    -- A scratch key lives longer with each use.
    select name, place, case when r.table_name = 'api_key' and name = 'expires_at' then 'case when t.person_id is null then t.expires_at end'
      else format('t.%I', name) end as value
    from unnest(r.columns) with ordinality c (name, place)) c
  where r.table_name = p_table group by r.keys
$$;

-- At the end of the transaction, when its events are in the audit log.
create function record_change() returns trigger language plpgsql security definer
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
declare
  v_query constant text := 'select ' || recorded_row(tg_table_name) || ' from (select ($1).*) t';
  v_event constant bigint := nullif(current_setting('tollgate.event', true), '');
  v_key text;
  v_digest bytea;
  v_marks jsonb;
  v_old_key text;
  v_old_digest bytea;
begin
  if tg_op <> 'INSERT' then execute v_query into v_old_key, v_old_digest using old; end if;
  if tg_op <> 'DELETE' then execute v_query into v_key, v_digest, v_marks using new; end if;
  if v_old_key is distinct from v_key and tg_op <> 'INSERT' then
    insert into recorded_change (table_name, row_key, event) values (tg_table_name, v_old_key, v_event);
  end if;
  if (v_key, v_digest) is distinct from (v_old_key, v_old_digest) and tg_op <> 'DELETE' then
    insert into recorded_change (table_name, row_key, digest, marks, event) values (tg_table_name, v_key, v_digest, v_marks, v_event);
  end if;
  return null;
end $$;

-- Records every row of a table as it is, within a migration.
create function record_all(p_table text) returns void language plpgsql
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
begin
  execute format('insert into recorded_change (table_name, row_key, digest, marks) select %L, t.* from (select %s from %I t) t',
    p_table, recorded_row(p_table), p_table);
end $$;

-- Of several events in one transaction the last one counts.
create function note_event() returns trigger language plpgsql set search_path from current as $$
begin
  perform set_config('tollgate.event', new.id::text, true);
  return new;
end $$;
create trigger noted before insert on audit for each row
  when (new.outcome = 'allowed' and new.action !~ '(_read|_listed|_searched)$') execute function note_event();

create trigger append_only before update or delete or truncate on recorded_change for each statement execute function refuse_change();
insert into seal_chain (name, number) values ('recorded_change', 'number');

-- The stored reply of an idempotency key never changes. Its digest is written with it, and is null if it was stored before.
alter table idempotency add column digest bytea;

create function reply_digest(p_row idempotency) returns bytea language sql immutable set search_path from current as $$
  select sha256(convert_to(row(p_row.account_id, p_row.key, p_row.request_hash, p_row.hold_id, p_row.headers, p_row.body)::text, 'UTF8'))
$$;

create function keep_reply_digest() returns trigger language plpgsql set search_path from current as $$
begin
  new.digest := reply_digest(new);
  return new;
end $$;
create trigger digested before update of body on idempotency for each row when (old.body is null) execute function keep_reply_digest();

do $$
declare
  v_table record;
begin
  execute format('revoke update, delete, truncate on recorded_change from %I', current_user);
  for v_table in select * from recorded_columns() loop
    execute format('create constraint trigger recorded after insert or delete or update of %s on %I
      deferrable initially deferred for each row execute function record_change()',
      (select string_agg(distinct quote_ident(name), ', ') from unnest(v_table.keys || v_table.columns) name), v_table.table_name);
    perform record_all(v_table.table_name);
  end loop;
end $$;
