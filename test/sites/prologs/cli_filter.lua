function slurm_cli_pre_submit(options, pack_offset)
  return slurm.SUCCESS
end
