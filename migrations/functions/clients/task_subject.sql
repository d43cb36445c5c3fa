-- The title of what a task concerns: an item of the client, or one of its invoices for those who may read invoices. Null if there is none.
create or replace function task_subject(p_client uuid, p_noun text, p_id uuid) returns text
language plpgsql stable set search_path from current as $$
begin
  case p_noun
    when 'note' then return (select date::text from note where id = p_id and client_id = p_client);
    when 'dispute' then return (select invoice from dispute where id = p_id and client_id = p_client);
    when 'letter' then return (select subject from letter where id = p_id and client_id = p_client);
    when 'document' then return (select name from document where id = p_id and client_id = p_client);
    when 'invoice' then
      if not has_table_privilege('invoice', 'select') then return null; end if;
      return (select coalesce(number, '') from invoice where id = p_id and client_id = p_client);
    else return null;
  end case;
end $$;
