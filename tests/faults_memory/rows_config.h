/* rows_config.h - the functions of config.h as rows; table.h explains the form. */
SKIP_ROW(hd_config_refuse, "heads_fit calls it; it is a failure itself")
NEVER_ROW(hd_config_defaults, hd_config_defaults(&settings_table, &now))
ROW(hd_config_load, "", load(w, 0))
ROW(hd_config_load, "and settings", load(w, 3))
ROW(hd_config_load, "settings alone", hd_config_load(&settings_table, &now, NULL, 3, sets))
ROW(hd_config_load_text, "", load_text(text, 0))
ROW(hd_config_load_text, "and settings", load_text("{\"seed\": 9}", 3))
ROW(hd_config_text, "", hd_config_text(&settings_table, &now))
ROW(hd_config_save, "", hd_config_save(&settings_table, &now, in_folder(w, "new.json")))
ROW(hd_config_save, "in place of another file",
    hd_config_save(&settings_table, &now, in_folder(w, "old.json")))
