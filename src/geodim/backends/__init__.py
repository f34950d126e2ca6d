"""How the engine runs elsewhere than on this machine's cores: on a GPU.  Same arrays in, same bits out."""
