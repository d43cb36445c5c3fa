-- A complete upload of bytes that the client has already, but that no document uses, keeps them for another day. Unused uploads are removed
-- a few at a time, past those that are being continued.
do $$
begin
  execute format('grant update (created_at) on document_content to %s, %s', portal_role('consultant'), portal_role('partner'));
  execute format('create policy swept on document_upload for update to %I using (current_setting(''tollgate.proof'', true) = ''on'')',
    current_user);
end $$;
