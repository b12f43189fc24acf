#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Options {
  int m = 1024;
  int n = 1024;
  int k = 2048;
  int iterations = 10;
  float alpha = 1.f;
  float beta = 0.f;
  bool help = false;

  static bool value(const char* arg, const char* name, const char** out) {
    const size_t len = std::strlen(name);
    if (std::strncmp(arg, name, len) != 0 || arg[len] != '=') return false;
    *out = arg + len + 1;
    return true;
  }

  void parse(int argc, char const** argv) {
    const char* v = nullptr;
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--help") == 0) help = true;
      if (value(argv[i], "--m", &v)) m = std::atoi(v);
      if (value(argv[i], "--n", &v)) n = std::atoi(v);
      if (value(argv[i], "--k", &v)) k = std::atoi(v);
      if (value(argv[i], "--iterations", &v)) iterations = std::atoi(v);
    }
  }
};
