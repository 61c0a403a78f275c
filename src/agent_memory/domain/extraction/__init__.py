"""What can be learnt from a history without a language model: deterministic, and rather too little than wrong."""
