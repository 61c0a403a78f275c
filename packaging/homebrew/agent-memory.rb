# `make release` fills in the address and the hash; `brew update-python-resources` adds the Python packages.
class AgentMemory < Formula
  include Language::Python::Virtualenv

  desc "Memory your coding agents share: plain markdown in a git repository"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v0.1.0/agent_memory-0.1.0.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
    generate_completions_from_executable(bin/"memory", "completions")
  end

  test do
    ENV["AGENT_MEMORY_ROOT"] = testpath/"store"
    system bin/"memory", "remember", "The staging server listens on port 8443"
    assert_match "8443", shell_output("#{bin}/memory search staging")
  end
end
