-- Erases a client whose erasure is due and was scheduled at least p_wait ago, with all that is on its record, and returns `erased`.
-- Otherwise changes nothing and returns `not_due`, or `busy` while something is generated for the client: then it also asks its drafts to
-- stop.
create or replace function erase_client(p_client uuid, p_wait interval) returns text language plpgsql set search_path from current as $$
declare
  v_client client;
  v_erasure erasure;
  v_sealed bigint;
  v_nouns uuid[];
  v_revisions bigint;
  v_remains bytea;
begin
  perform set_config('tollgate.proof', 'on', true);
  -- Everything that is added to a record waits for this lock, and then fails.
  select * into v_client from client where id = p_client for update;
  if not found then return 'not_due'; end if;
  select * into v_erasure from erasure
    where client_id = p_client and withdrawn_at is null and due_at <= clock_timestamp()
      and scheduled_at + p_wait <= clock_timestamp()
      -- The rule is about clients that are archived or deleted.
      and (scheduled_by is not null or v_client.status = 'archived' or v_client.deleted_at is not null)
    for update;
  if not found then return 'not_due'; end if;
  if exists (select from draft where client_id = p_client and status = 'running')
    or exists (select from hold where client_id = p_client) then
    update draft set stop_asked_at = clock_timestamp()
      where client_id = p_client and status = 'running' and stop_asked_at is null;
    return 'busy';
  end if;

  -- Sealing stops until this ends, so a revision is either sealed with its contents or without.
  select upto into v_sealed from seal_chain where name = 'revision' for update;
  v_nouns := array(select id from note where client_id = p_client union all
    select id from dispute where client_id = p_client union all
    select id from letter where client_id = p_client union all
    select id from time_entry where client_id = p_client union all
    select id from expense where client_id = p_client union all
    select id from document where client_id = p_client union all
    select id from task where client_id = p_client union all
    select id from contact where client_id = p_client union all
    select id from letter_mail where client_id = p_client union all
    select id from letter_review where client_id = p_client union all select p_client);
  with sealed as materialized (
    select r.number, d.digest
    from revision r
      cross join lateral (select columns from seal where chain = 'revision' and upto >= r.number order by upto limit 1) s
      cross join lateral row_digests('revision', 'number', s.columns, r.number - 1, r.number) d
    where r.noun_id = any (v_nouns) and r.number <= v_sealed)
  update revision r set data = '{}', erased = (select digest from sealed where sealed.number = r.number)
    where r.noun_id = any (v_nouns);

  -- Replies that are stored for repeated requests. A scalar subquery, because a join could read the whole ledger.
  delete from idempotency i
    where (select l.client_id from ledger l where l.request_id = i.hold_id limit 1) = p_client;
  delete from draft where client_id = p_client;
  delete from letter_mail where client_id = p_client;
  delete from letter_mail_end where client_id = p_client;
  delete from letter_file where client_id = p_client;
  delete from letter_review_notice where client_id = p_client;
  delete from letter_review where client_id = p_client;
  delete from letter where client_id = p_client;
  delete from dispute where client_id = p_client;
  delete from note where client_id = p_client;
  delete from time_entry where client_id = p_client;
  delete from timer where client_id = p_client;
  delete from expense where client_id = p_client;
  delete from task where client_id = p_client;
  delete from contact where client_id = p_client;
  delete from document where client_id = p_client;
  -- Its text goes with it.
  delete from document_content where client_id = p_client;
  delete from document_upload where client_id = p_client;
  delete from document_chunk where client_id = p_client;

  -- Lines of batches that name the client: those that have not ended fail, and all lose their texts. A request that is running may still be
  -- charged, so its line goes on naming it.
  with ended as (
    update batch_line set state = 'failed', claimed_at = null where client_id = p_client and state in ('queued', 'running')
    returning batch_id
  )
  -- The lines of one that is still arriving are counted once all are there.
  update batch set failed = failed + e.lines, lines = batch.lines + case status when 'arriving' then e.lines else 0 end
    from (select batch_id, count(*) as lines from ended group by batch_id) e where batch.id = e.batch_id;
  update batch_line set content = null, result = null where client_id = p_client;
  with gone as (delete from batch_file_line where client_id = p_client returning file_id)
  update batch_file set lines = batch_file.lines - g.lines
    from (select file_id, count(*) as lines from gone group by file_id) g where batch_file.id = g.file_id;

  perform from invoice where client_id = p_client and state <> 'issued' for update;
  delete from invoice_line using invoice i
    where i.id = invoice_line.invoice_id and i.client_id = p_client and i.state <> 'issued';
  update invoice set state = 'void', note = '', buyer_name = null, buyer_address = null, buyer_tax_number = null,
    buyer_place = null, buyer_reference = null, order_number = null, days_to_pay = null, language = null, net = 0, tax = 0, gross = 0, taxes = '[]', version = version + 1, updated_at = record_time(), updated_by = null
    where client_id = p_client and state <> 'issued';
  delete from unbilled where client_id = p_client;

  select count(*), sha256(string_agg(remains_of(r), ''::bytea order by r.number)) into v_revisions, v_remains
    from revision r where r.noun_id = any (v_nouns);
  update client set name = 'Erased client', reference = null, email = null, address = null, vat_number = null,
    billing_street = null, billing_extra = null, billing_postcode = null, billing_city = null, billing_country = null,
    buyer_reference = null, order_number = null, days_to_pay = null, billing_language = null, version = version + 1, updated_at = record_time(), deleted_at = coalesce(deleted_at, record_time()) where id = p_client;
  insert into erased_client (client_id, reason, scheduled_by, scheduled_at, revisions, remains)
    values (p_client, v_erasure.reason, v_erasure.scheduled_by, v_erasure.scheduled_at, v_revisions, v_remains);
  insert into audit (action, outcome, actor, client_id, noun, noun_id)
    values ('client_erased', 'allowed', 'service', p_client, 'client', p_client);
  delete from erasure where client_id = p_client;
  return 'erased';
end $$;
revoke execute on function erase_client(uuid, interval) from public;
