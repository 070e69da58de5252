importScripts("/siskin/siskin-sw.js");
