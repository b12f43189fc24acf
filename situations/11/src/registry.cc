#include "fp8conv/registry.h"

#include <map>
#include <string>
#include <utility>

namespace fp8conv {

namespace {
std::map<int, std::pair<std::string, Launcher>>& table() {
  static std::map<int, std::pair<std::string, Launcher>> t;
  return t;
}
}  // namespace

Registry& Registry::instance() {
  static Registry r;
  return r;
}

void Registry::add(int sm, const char* name, Launcher f) { table()[sm] = {name, f}; }

Launcher Registry::find(int sm) const {
  const auto it = table().find(sm);
  return it == table().end() ? nullptr : it->second.second;
}

}  // namespace fp8conv
